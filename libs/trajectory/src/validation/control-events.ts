import type {
  Baseline,
  BatchPlanned,
  FileRef,
  GroupClosed,
  LogOpened,
  MetricsLogged,
  PolicyPublished,
  RetentionApplied,
  RetraceEvent,
  RunEnded,
  RunStarted,
  TrainerClaimed,
  UpdateApplied,
} from '../events.js';
import { findVersionRangeProblem } from './episode-events.js';
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

export const groupClosedRules: FieldRules<GroupClosed> = {
  groupId: nonEmptyText,
  round: integerAtLeast(0),
  split: oneOf('train', 'validation', 'test'),
  reason: oneOf('complete', 'deadline', 'abandoned'),
  groupSize: integerAtLeast(1),
  episodeIds: listOf(uuid),
  numSteps: typedArray(Int32Array),
  policyVersionMin: integerAtLeast(-1),
  policyVersionMax: integerAtLeast(-1),
  trainable: flag,
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

export const metricsLoggedRules: FieldRules<MetricsLogged> = {
  source: oneOf('trainer', 'collector', 'sink', 'evaluation', 'system'),
  step: integerAtLeast(0),
  names: listOf(nonEmptyText),
  values: typedArray(Float64Array),
};

export const retentionAppliedRules: FieldRules<RetentionApplied> = { scope: json, detail: text };

export function checkGroupClosed({ payload }: RetraceEvent<'GroupClosed'>): Problem | null {
  const field = 'GroupClosed.payload';
  const { episodeIds, groupSize, reason } = payload;
  if (episodeIds.length > groupSize) {
    return {
      field: `${field}.episodeIds.length`,
      value: episodeIds.length,
      rule: `must be ≤ groupSize, ${groupSize}`,
    };
  }
  if (reason === 'complete' && episodeIds.length !== groupSize) {
    const rule = `must be groupSize, ${groupSize}, because the group is complete`;
    return { field: `${field}.episodeIds.length`, value: episodeIds.length, rule };
  }
  return (
    findManifestProblem(payload, field) ??
    findDuplicate(episodeIds, `${field}.episodeIds`) ??
    findVersionRangeProblem(payload, field)
  );
}

export function checkBatchPlanned({ payload }: RetraceEvent<'BatchPlanned'>): Problem | null {
  const field = 'BatchPlanned.payload';
  return findManifestProblem(payload, field) ?? findDuplicate(payload.groupIds, `${field}.groupIds`);
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
