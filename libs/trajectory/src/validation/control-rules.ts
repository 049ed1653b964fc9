import type {
  Baseline,
  BatchPlanned,
  CollectorClaimed,
  FileRef,
  GroupsClosed,
  LogOpened,
  MetricsLogged,
  PolicyPublished,
  RetentionApplied,
  RetraceEvent,
  RunDeleted,
  RunEnded,
  RunStarted,
  TrainerClaimed,
  UpdateApplied,
} from '../events/event.js';
import { findVersionRangeProblem } from './episode-rules.js';
import type { Problem } from './problem.js';
import {
  flag,
  integerAtLeast,
  json,
  listOf,
  nonEmptyText,
  nullable,
  numberBetween,
  objectOf,
  oneOf,
  sha256,
  text,
  typedArray,
  uuid,
  type FieldRules,
} from './rules.js';

export const logOpenedRules: FieldRules<LogOpened> = {
  adapter: nonEmptyText,
  createdBy: text,
  partitions: objectOf({ trajectories: integerAtLeast(1), control: integerAtLeast(1) }),
};

const baselineRules: FieldRules<Baseline> = {
  name: nonEmptyText,
  success: numberBetween(0, 1),
  numEpisodes: integerAtLeast(1),
  split: oneOf('train', 'validation', 'test'),
};

export const runStartedRules: FieldRules<RunStarted> = {
  name: nonEmptyText,
  recipe: json,
  recipeHash: nonEmptyText,
  seed: integerAtLeast(0),
  environment: nonEmptyText,
  codeVersion: text,
  baselines: listOf(objectOf(baselineRules)),
};

export const runEndedRules: FieldRules<RunEnded> = {
  reason: oneOf('finished', 'stopped', 'failed'),
  detail: text,
  numUpdates: integerAtLeast(0),
};

export const groupsClosedRules: FieldRules<GroupsClosed> = {
  round: integerAtLeast(0),
  split: oneOf('train', 'validation', 'test'),
  reason: oneOf('complete', 'deadline', 'abandoned'),
  trainable: flag,
  groupIds: listOf(nonEmptyText),
  groupSizes: typedArray(Int32Array),
  memberOffsets: typedArray(Int32Array),
  episodeIds: listOf(uuid),
  numSteps: typedArray(Int32Array),
  policyVersionMin: typedArray(Int32Array),
  policyVersionMax: typedArray(Int32Array),
};

export const batchPlannedRules: FieldRules<BatchPlanned> = {
  planId: uuid,
  epoch: integerAtLeast(0),
  updateNumber: integerAtLeast(0),
  stage: oneOf('policy', 'imitation'),
  policyVersionIn: integerAtLeast(0),
  rewardVersion: nonEmptyText,
  recipeHash: nonEmptyText,
  groupIds: listOf(nonEmptyText),
  episodeIds: listOf(uuid),
  numSteps: typedArray(Int32Array),
  samplerState: json,
  seed: integerAtLeast(0),
};

const fileRefRules: FieldRules<FileRef> = { sha256, sizeBytes: integerAtLeast(0) };

export const updateAppliedRules: FieldRules<UpdateApplied> = {
  planId: uuid,
  epoch: integerAtLeast(0),
  updateNumber: integerAtLeast(0),
  policyVersionOut: integerAtLeast(0),
  weights: objectOf(fileRefRules),
  optimizer: objectOf(fileRefRules),
  episodeRewards: nullable(typedArray(Float64Array)),
  trainerState: json,
  metricNames: listOf(nonEmptyText),
  metricValues: typedArray(Float64Array),
};

export const policyPublishedRules: FieldRules<PolicyPublished> = {
  policyVersion: integerAtLeast(0),
  parentVersion: nullable(integerAtLeast(0)),
  updateNumber: integerAtLeast(0),
  epoch: integerAtLeast(0),
  weights: objectOf(fileRefRules),
  modelHash: nonEmptyText,
};

export const trainerClaimedRules: FieldRules<TrainerClaimed> = {
  epoch: integerAtLeast(0),
  trainerId: nonEmptyText,
};

export const collectorClaimedRules: FieldRules<CollectorClaimed> = {
  shareIndex: integerAtLeast(0),
  numShares: integerAtLeast(1),
  split: oneOf('train', 'validation', 'test'),
  trainable: flag,
  round: integerAtLeast(0),
  numGroups: integerAtLeast(1),
  places: typedArray(Int32Array),
  groupIds: listOf(nonEmptyText),
  groupSize: integerAtLeast(1),
  firstOrdinal: integerAtLeast(0),
};

export const metricsLoggedRules: FieldRules<MetricsLogged> = {
  source: oneOf('trainer', 'collector', 'sink', 'evaluation', 'system'),
  step: integerAtLeast(0),
  names: listOf(nonEmptyText),
  values: typedArray(Float64Array),
};

export const retentionAppliedRules: FieldRules<RetentionApplied> = { scope: json, detail: text };

export const runDeletedRules: FieldRules<RunDeleted> = {
  controlEnd: integerAtLeast(0),
  trajectoryEnds: listOf(integerAtLeast(0)),
  forced: flag,
  detail: text,
};

export function checkGroupsClosed({ payload }: RetraceEvent<'GroupsClosed'>): Problem | null {
  const field = 'GroupsClosed.payload';
  const numGroups = payload.groupIds.length;
  if (numGroups === 0) return { field: `${field}.groupIds.length`, value: 0, rule: 'must be ≥ 1' };
  return (
    findLengthProblem(payload.groupSizes, numGroups, `${field}.groupSizes`) ??
    findLengthProblem(payload.policyVersionMin, numGroups, `${field}.policyVersionMin`) ??
    findLengthProblem(payload.policyVersionMax, numGroups, `${field}.policyVersionMax`) ??
    findLengthProblem(payload.memberOffsets, numGroups + 1, `${field}.memberOffsets`) ??
    findManifestProblem(payload, field) ??
    findDuplicate(payload.groupIds, `${field}.groupIds`) ??
    findDuplicate(payload.episodeIds, `${field}.episodeIds`) ??
    findGroupProblem(payload, field)
  );
}

function findLengthProblem(column: Int32Array, length: number, field: string): Problem | null {
  if (column.length === length) return null;
  return { field: `${field}.length`, value: column.length, rule: `must be ${length}, from groupIds` };
}

function findGroupProblem(payload: GroupsClosed, field: string): Problem | null {
  const { memberOffsets, groupSizes, episodeIds, reason, policyVersionMin, policyVersionMax } = payload;
  const numGroups = groupSizes.length;
  if (memberOffsets[0] !== 0 || memberOffsets[numGroups] !== episodeIds.length) {
    const rule = `must go from 0 to the number of episodeIds, ${episodeIds.length}`;
    return { field: `${field}.memberOffsets`, value: memberOffsets.join(', '), rule };
  }
  for (let g = 0; g < numGroups; g++) {
    const numMembers = memberOffsets[g + 1] - memberOffsets[g];
    const size = groupSizes[g];
    const members = `${field}.memberOffsets[${g + 1}] − memberOffsets[${g}]`;
    if (size < 1) return { field: `${field}.groupSizes[${g}]`, value: size, rule: 'must be ≥ 1' };
    if (numMembers < 0 || numMembers > size)
      return { field: members, value: numMembers, rule: `must be from 0 to groupSizes[${g}], ${size}` };
    if (reason === 'complete' && numMembers !== size) {
      const rule = `must be groupSizes[${g}], ${size}, because the group is complete`;
      return { field: members, value: numMembers, rule };
    }
    const range = { policyVersionMin: policyVersionMin[g], policyVersionMax: policyVersionMax[g] };
    const problem = findVersionRangeProblem(range, `${field}[${g}]`);
    if (problem !== null) return problem;
  }
  return null;
}

export function checkBatchPlanned({ payload }: RetraceEvent<'BatchPlanned'>): Problem | null {
  const field = 'BatchPlanned.payload';
  return findManifestProblem(payload, field) ?? findDuplicate(payload.groupIds, `${field}.groupIds`);
}

export function checkCollectorClaimed({ payload }: RetraceEvent<'CollectorClaimed'>): Problem | null {
  const field = 'CollectorClaimed.payload';
  const { shareIndex, numShares, numGroups, places, groupIds } = payload;
  if (shareIndex >= numShares) {
    return { field: `${field}.shareIndex`, value: shareIndex, rule: `must be < numShares, ${numShares}` };
  }
  if (groupIds.length === 0) return { field: `${field}.groupIds.length`, value: 0, rule: 'must be ≥ 1' };
  const outside = places.findIndex((place) => place < 0 || place >= numGroups);
  if (outside >= 0) {
    const rule = `must be from 0 to numGroups − 1, ${numGroups - 1}`;
    return { field: `${field}.places[${outside}]`, value: places[outside], rule };
  }
  return (
    findLengthProblem(places, groupIds.length, `${field}.places`) ??
    findDuplicate(Array.from(places, String), `${field}.places`) ??
    findDuplicate(groupIds, `${field}.groupIds`)
  );
}

export function checkUpdateApplied({ payload }: RetraceEvent<'UpdateApplied'>): Problem | null {
  const { metricNames, metricValues } = payload;
  return findPairProblem(metricNames, metricValues, 'UpdateApplied.payload.metricValues');
}

export function checkMetricsLogged({ payload }: RetraceEvent<'MetricsLogged'>): Problem | null {
  return findPairProblem(payload.names, payload.values, 'MetricsLogged.payload.values');
}

export function checkPolicyPublished({ payload }: RetraceEvent<'PolicyPublished'>): Problem | null {
  const { policyVersion, parentVersion } = payload;
  if (parentVersion === null || parentVersion < policyVersion) return null;
  const rule = `must be null or < policyVersion, which is ${policyVersion}`;
  return { field: 'PolicyPublished.payload.parentVersion', value: parentVersion, rule };
}

interface Manifest {
  readonly episodeIds: readonly string[];
  readonly numSteps: Int32Array;
}

function findManifestProblem({ episodeIds, numSteps }: Manifest, field: string): Problem | null {
  if (numSteps.length !== episodeIds.length) {
    const rule = `must be the number of episodeIds, ${episodeIds.length}`;
    return { field: `${field}.numSteps.length`, value: numSteps.length, rule };
  }
  const negative = numSteps.findIndex((value) => value < 0);
  if (negative < 0) return null;
  return { field: `${field}.numSteps[${negative}]`, value: numSteps[negative], rule: 'must be ≥ 0' };
}

function findDuplicate(ids: readonly string[], field: string): Problem | null {
  if (new Set(ids).size === ids.length) return null;
  const at = ids.findIndex((id, i) => ids.indexOf(id) !== i);
  return { field: `${field}[${at}]`, value: ids[at], rule: 'must be listed once' };
}

function findPairProblem(names: readonly string[], values: Float64Array, field: string): Problem | null {
  if (values.length === names.length) return null;
  return {
    field: `${field}.length`,
    value: values.length,
    rule: `must be the number of names, ${names.length}`,
  };
}
