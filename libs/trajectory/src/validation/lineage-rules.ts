import type { UsedEngine } from '../events/commit-events.js';
import type { LineagePayloads, UpdateTokensTraced, UpdateTraced } from '../events/lineage-events.js';
import { findLengthProblem, type Checks, type Problem } from './problem.js';
import { integerAtLeast, listOf, nonEmptyText, nullable, objectOf, text, typedArray, uuid } from './rules.js';
import type { PayloadRules } from './rules.js';

export const usedEngine = objectOf<UsedEngine>({
  kind: nonEmptyText,
  version: text,
  device: text,
  numProcesses: integerAtLeast(1),
  precision: text,
});

/** A rule for each field of the events of lineage. */
export const LINEAGE_RULES: PayloadRules<LineagePayloads> = {
  UpdateTraced: {
    planId: uuid,
    epoch: integerAtLeast(0),
    updateNumber: integerAtLeast(0),
    policyVersionIn: integerAtLeast(0),
    runIds: listOf(uuid),
    episodeRuns: typedArray(Int32Array),
    groupIds: listOf(nonEmptyText),
    episodeGroups: typedArray(Int32Array),
    episodeIds: listOf(uuid),
    firstSteps: typedArray(Int32Array),
    numSteps: typedArray(Int32Array),
    episodeDigests: listOf(nonEmptyText),
    times: typedArray(Int32Array),
    numTokens: typedArray(Int32Array),
    weights: typedArray(Float32Array),
    advantageMeans: typedArray(Float32Array),
    advantageDeviations: typedArray(Float32Array),
    advantageMins: typedArray(Float32Array),
    advantageMaxs: typedArray(Float32Array),
    stepLosses: typedArray(Float64Array),
    stepGradientNorms: typedArray(Float64Array),
  },
  UpdateTokensTraced: {
    planId: uuid,
    epoch: integerAtLeast(0),
    updateNumber: integerAtLeast(0),
    part: integerAtLeast(0),
    optimizerSteps: typedArray(Int32Array),
    episodes: typedArray(Int32Array),
    steps: typedArray(Int32Array),
    positions: typedArray(Int32Array),
    clipped: typedArray(Uint8Array),
    ratios: typedArray(Float32Array),
    advantages: typedArray(Float32Array),
    values: typedArray(Float32Array),
    kls: typedArray(Float32Array),
    entropies: typedArray(Float32Array),
    teacherLogprobs: nullable(typedArray(Float32Array)),
  },
};

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
