import type { BatchPlanned } from '../events/control-events.js';
import type { Problem } from '../fields/problem.js';
import { findLengthProblem } from './between-fields.js';

/** Finds what is wrong between the fields of a plan that say where its groups come from. */
export function findPlanProblem(payload: BatchPlanned): Problem | null {
  const { groupIds, episodeIds, runIds, groupRuns, groupSources, groupRows, groupWeights, episodeGroups } =
    payload;
  for (const [name, column] of Object.entries({ groupRuns, groupSources, groupRows, groupWeights })) {
    const problem = column && findLengthProblem({ [name]: column }, { groupIds });
    if (problem) return problem;
  }
  const lengths = episodeGroups && findLengthProblem({ episodeGroups }, { episodeIds });
  if (lengths) return lengths;
  if (groupRuns !== null && episodeGroups === null) {
    const rule = 'must not be null where groupRuns is not';
    return { field: 'payload.episodeGroups', value: null, rule };
  }
  return (
    findOutside({ groupRuns }, { from: 0, to: runIds.length, rule: 'the number of runIds' }) ??
    findOutside({ episodeGroups }, { from: 0, to: groupIds.length - 1, rule: 'the last of groupIds' }) ??
    findOutside({ groupRows }, { from: -1, to: Infinity, rule: 'any row' }) ??
    findOutside({ groupSources }, { from: 0, to: Infinity, rule: 'any source' }) ??
    findRepeated(payload)
  );
}

function findOutside(
  field: Readonly<Record<string, Int32Array | null>>,
  { from, to, rule }: { readonly from: number; readonly to: number; readonly rule: string },
): Problem | null {
  const [[name, values]] = Object.entries(field);
  const at = values?.findIndex((value) => value < from || value > to) ?? -1;
  if (values === null || at < 0) return null;
  const range = to === Infinity ? `must be ≥ ${from}` : `must be from ${from} to ${to}, ${rule}`;
  return { field: `payload.${name}[${at}]`, value: values[at], rule: range };
}

/** Two runs may have groups of one id. */
function findRepeated({ groupIds, groupRuns }: BatchPlanned): Problem | null {
  const known = new Set<string>();
  const at = groupIds.findIndex(
    (groupId, g) => known.size === known.add(`${groupRuns?.[g] ?? 0} ${groupId}`).size,
  );
  if (at < 0) return null;
  return { field: `payload.groupIds[${at}]`, value: groupIds[at], rule: 'must be listed once' };
}
