import type { GroupsClosed } from '../events/control-events.js';
import type { ControlPayloads } from '../events/event-fields.js';
import type { Problem } from '../fields/problem.js';
import { findDuplicate, findLengthProblem, type Checks } from './between-fields.js';
import { DATASET_CHECKS } from './dataset-checks.js';
import { findGroupProblem, findOffsetsProblem } from './group-checks.js';
import { LINEAGE_CHECKS } from './lineage-checks.js';
import { findPlanProblem } from './plan-checks.js';

/** Rules between fields of control events. */
export const CONTROL_CHECKS: Checks<ControlPayloads> = {
  ...LINEAGE_CHECKS,
  ...DATASET_CHECKS,
  RunStarted: ({ payload: { runKind, recipe, recipeHash, environment } }) => {
    if (runKind === 'trained') {
      const rule = 'must be non-empty text in a trained run';
      if (recipeHash === '') return { field: 'payload.recipeHash', value: '', rule };
      return environment === '' ? { field: 'payload.environment', value: '', rule } : null;
    }
    if (recipe !== null)
      return { field: 'payload.recipe', value: recipe, rule: 'must be null in a recorded run' };
    if (recipeHash === '') return null;
    return { field: 'payload.recipeHash', value: recipeHash, rule: "must be '' in a recorded run" };
  },

  GroupsClosed: ({ payload }) => {
    const { groupIds, groupSizes, memberOffsets, episodeIds, policyVersionMin, policyVersionMax } = payload;
    const numGroups = groupIds.length;
    if (numGroups === 0) return { field: 'payload.groupIds.length', value: 0, rule: 'must be ≥ 1' };
    return (
      findLengthProblem({ groupSizes }, { groupIds }) ??
      findLengthProblem({ policyVersionMin }, { groupIds }) ??
      findLengthProblem({ policyVersionMax }, { groupIds }) ??
      findOffsetsProblem(memberOffsets, numGroups, episodeIds.length) ??
      findManifestProblem(payload) ??
      findDuplicate({ groupIds }) ??
      findDuplicate({ episodeIds }) ??
      findGroupProblem(payload)
    );
  },

  GroupsDiscarded: ({ payload: { groupIds } }) =>
    groupIds.length === 0
      ? { field: 'payload.groupIds.length', value: 0, rule: 'must be ≥ 1' }
      : findDuplicate({ groupIds }),

  BatchPlanned: ({ payload }) => findManifestProblem(payload) ?? findPlanProblem(payload),

  AlarmAcknowledged: ({ payload: { rule, message } }) => {
    if ((rule === '') === (message !== '')) return null;
    const must = rule === '' ? 'must be non-empty text without a rule' : "must be '' where there is a rule";
    return { field: 'payload.message', value: message, rule: must };
  },

  EpisodesDeleted: ({ payload: { episodeIds } }) =>
    episodeIds.length === 0
      ? { field: 'payload.episodeIds.length', value: 0, rule: 'must be ≥ 1' }
      : findDuplicate({ episodeIds }),

  CollectorClaimed: ({ payload: { shareIndex, numShares, numGroups, places, groupIds } }) => {
    if (shareIndex >= numShares) {
      return { field: 'payload.shareIndex', value: shareIndex, rule: `must be < numShares, ${numShares}` };
    }
    if (groupIds.length === 0) return { field: 'payload.groupIds.length', value: 0, rule: 'must be ≥ 1' };
    const outside = places.findIndex((place) => place < 0 || place >= numGroups);
    if (outside >= 0) {
      const rule = `must be from 0 to numGroups − 1, ${numGroups - 1}`;
      return { field: `payload.places[${outside}]`, value: places[outside], rule };
    }
    return (
      findLengthProblem({ places }, { groupIds }) ?? findDuplicate({ places }) ?? findDuplicate({ groupIds })
    );
  },

  UpdateApplied: ({ payload: { metricNames, metricValues } }) =>
    findLengthProblem({ metricValues }, { metricNames }),

  MetricsLogged: ({ payload: { names, values } }) => findLengthProblem({ values }, { names }),

  PolicyPublished: ({ payload: { policyVersion, parentVersion } }) => {
    if (parentVersion === null || parentVersion < policyVersion) return null;
    const rule = `must be null or < policyVersion, which is ${policyVersion}`;
    return { field: 'payload.parentVersion', value: parentVersion, rule };
  },
};

function findManifestProblem({
  episodeIds,
  numSteps,
}: Pick<GroupsClosed, 'episodeIds' | 'numSteps'>): Problem | null {
  const problem = findLengthProblem({ numSteps }, { episodeIds });
  const negative = numSteps.findIndex((value) => value < 0);
  if (problem !== null || negative < 0) return problem;
  return { field: `payload.numSteps[${negative}]`, value: numSteps[negative], rule: 'must be ≥ 0' };
}
