import type { LineagePayloads, UpdateTokensTraced, UpdateTraced } from '../events/lineage-events.js';
import type { Problem } from '../fields/problem.js';
import { findLengthProblem, type Checks } from './between-fields.js';

/** [E] Columns whose values count something. */
const COUNTS = ['firstSteps', 'numSteps', 'times', 'numTokens'] as const;

/** [E] Columns of numbers. */
const NUMBERS = [
  'weights',
  'advantageMeans',
  'advantageDeviations',
  'advantageMins',
  'advantageMaxs',
] as const;

/** [M] Columns of the tokens of an update that count something, with the least value of each. */
const LEAST_OF_TOKEN = { optimizerSteps: 1, episodes: 0, steps: 0, positions: 0, clipped: 0 } as const;

/** [M] Columns of numbers of the tokens of an update. */
const NUMBERS_OF_TOKEN = ['ratios', 'advantages', 'values', 'kls', 'entropies'] as const;

/** Rules between fields of the events of lineage. */
export const LINEAGE_CHECKS: Checks<LineagePayloads> = {
  UpdateTraced: ({ payload }) => {
    const { episodeIds, stepLosses, stepGradientNorms } = payload;
    for (const name of [...COUNTS, ...NUMBERS]) {
      const problem = findLengthProblem({ [name]: payload[name] }, { episodeIds });
      if (problem !== null) return problem;
    }
    for (const name of COUNTS) {
      const negative = payload[name].findIndex((value) => value < 0);
      if (negative >= 0)
        return {
          field: `payload.${name}[${negative}]`,
          value: payload[name][negative],
          rule: 'must be ≥ 0',
        };
    }
    const { episodeDigests } = payload;
    if (episodeDigests.length > 0) {
      const problem = findLengthProblem({ episodeDigests }, { episodeIds });
      if (problem !== null) return problem;
    }
    return (
      findReferenceProblem(payload, 'episodeRuns', 'runIds') ??
      findReferenceProblem(payload, 'episodeGroups', 'groupIds') ??
      findLengthProblem({ stepGradientNorms }, { stepLosses })
    );
  },
  UpdateTokensTraced: ({ payload }) => findTokenProblem(payload),
};

function findTokenProblem(payload: UpdateTokensTraced): Problem | null {
  const { optimizerSteps, teacherLogprobs } = payload;
  for (const name of NUMBERS_OF_TOKEN) {
    const problem = findLengthProblem({ [name]: payload[name] }, { optimizerSteps });
    if (problem !== null) return problem;
  }
  if (teacherLogprobs !== null) {
    const problem = findLengthProblem({ teacherLogprobs }, { optimizerSteps });
    if (problem !== null) return problem;
    if (teacherLogprobs.length === 0)
      return { field: 'payload.teacherLogprobs', value: [], rule: 'must be null without a token' };
  }
  const ofTop = findTopProblem(payload);
  if (ofTop !== null) return ofTop;
  for (const [name, least] of Object.entries(LEAST_OF_TOKEN)) {
    const column = payload[name as keyof typeof LEAST_OF_TOKEN];
    const problem = findLengthProblem({ [name]: column }, { optimizerSteps });
    if (problem !== null) return problem;
    const small = column.findIndex((value) => value < least);
    if (small >= 0)
      return { field: `payload.${name}[${small}]`, value: column[small], rule: `must be ≥ ${least}` };
  }
  const other = payload.clipped.findIndex((value) => value > 1);
  return other < 0
    ? null
    : { field: `payload.clipped[${other}]`, value: payload.clipped[other], rule: 'must be 0 or 1' };
}

/** The likeliest tokens of a teacher are there for every token that it was asked about, as many for each. */
function findTopProblem(payload: UpdateTokensTraced): Problem | null {
  const { optimizerSteps, teacherLogprobs, teacherTopIds, teacherTopLogprobs } = payload;
  const [field, numTokens] = ['payload.teacherTopIds', optimizerSteps.length];
  if (teacherTopIds === null || teacherTopLogprobs === null) {
    const other = teacherTopIds === null ? 'teacherTopLogprobs' : 'teacherTopIds';
    return teacherTopIds === teacherTopLogprobs
      ? null
      : { field: `payload.${other}`, value: payload[other]?.length, rule: 'must be null where the other is' };
  }
  if (teacherLogprobs === null)
    return { field, value: teacherTopIds.length, rule: 'must be null without teacherLogprobs' };
  if (teacherTopIds.length === 0 || teacherTopIds.length % numTokens !== 0)
    return { field, value: teacherTopIds.length, rule: `must have a multiple of ${numTokens} entries` };
  const negative = teacherTopIds.findIndex((id) => id < 0);
  if (negative >= 0)
    return { field: `${field}[${negative}]`, value: teacherTopIds[negative], rule: 'must be ≥ 0' };
  return findLengthProblem({ teacherTopLogprobs }, { teacherTopIds });
}

/** Each element of `name` must be a place in the list `listName`. */
function findReferenceProblem(
  payload: UpdateTraced,
  name: 'episodeRuns' | 'episodeGroups',
  listName: 'runIds' | 'groupIds',
): Problem | null {
  const column = payload[name];
  const { length } = payload[listName];
  const lengthProblem = findLengthProblem({ [name]: column }, { episodeIds: payload.episodeIds });
  const outside = column.findIndex((value) => value < 0 || value >= length);
  if (lengthProblem !== null || outside < 0) return lengthProblem;
  const rule = `must be from 0 to the number of ${listName} − 1, ${length - 1}`;
  return { field: `payload.${name}[${outside}]`, value: column[outside], rule };
}
