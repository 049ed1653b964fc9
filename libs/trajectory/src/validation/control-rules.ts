import type { CheckpointFile } from '../events/commit-events.js';
import type { Baseline, ControlPayloads, GroupsClosed } from '../events/control-events.js';
import { WARNING_SOURCES } from '../events/warning-events.js';
import { DATASET_CHECKS, DATASET_RULES } from './dataset-rules.js';
import { LINEAGE_CHECKS, LINEAGE_RULES, usedEngine } from './lineage-rules.js';
import { findGroupProblem, findOffsetsProblem } from './group-rules.js';
import { findPlanProblem } from './plan-rules.js';
import { NOTEBOOK_RULES } from './notebook-rules.js';
import { POLICY_VALIDATED_RULES } from './policy-validated-rules.js';
import { findDuplicate, findLengthProblem, type Checks, type Problem } from './problem.js';
import {
  flag,
  integerAtLeast,
  json,
  listOf,
  nonEmptyText,
  nullable,
  numberAtLeast,
  numberBetween,
  objectOf,
  oneOf,
  sha256,
  text,
  typedArray,
  uuid,
  type PayloadRules,
  type Rule,
} from './rules.js';

const split = oneOf('train', 'validation', 'test');

const baseline = objectOf<Baseline>({
  name: nonEmptyText,
  success: numberBetween(0, 1),
  numEpisodes: integerAtLeast(1),
  split,
});

const namedFile = objectOf<CheckpointFile>({ sha256, sizeBytes: integerAtLeast(0) });
const unnamedFile = objectOf<CheckpointFile>({ sha256: text, sizeBytes: numberBetween(0, 0) });

const file: Rule = (value, field) => {
  const isUnnamed = (value as Partial<CheckpointFile> | null | undefined)?.sha256 === '';
  return (isUnnamed ? unnamedFile : namedFile)(value, field);
};

const warningSource = oneOf(...WARNING_SOURCES);

/** A rule for each field of each control event. */
export const CONTROL_RULES: PayloadRules<ControlPayloads> = {
  ...LINEAGE_RULES,
  ...DATASET_RULES,
  ...NOTEBOOK_RULES,
  LogOpened: {
    adapter: nonEmptyText,
    createdBy: text,
    partitions: objectOf({ trajectories: integerAtLeast(1), control: integerAtLeast(1) }),
  },
  RunStarted: {
    name: nonEmptyText,
    runKind: oneOf('trained', 'recorded'),
    recipe: json,
    recipeHash: text,
    seed: integerAtLeast(0),
    environment: text,
    codeVersion: text,
    baselines: listOf(baseline),
    tags: listOf(nonEmptyText),
    metadata: json,
  },
  RunEnded: {
    reason: oneOf('finished', 'stopped', 'failed'),
    detail: text,
    numUpdates: integerAtLeast(0),
  },
  GroupsClosed: {
    round: integerAtLeast(0),
    split,
    reason: oneOf('complete', 'deadline', 'abandoned'),
    trainable: flag,
    groupIds: listOf(nonEmptyText),
    groupSizes: typedArray(Int32Array),
    memberOffsets: typedArray(Int32Array),
    episodeIds: listOf(uuid),
    numSteps: typedArray(Int32Array),
    policyVersionMin: typedArray(Int32Array),
    policyVersionMax: typedArray(Int32Array),
  },
  GroupsDiscarded: {
    groupIds: listOf(nonEmptyText),
    reason: oneOf('tooStale', 'zeroVariance'),
    updateNumber: integerAtLeast(0),
  },
  SamplingBlocked: {
    side: oneOf('trainer', 'collector'),
    reason: nonEmptyText,
    numInserted: integerAtLeast(0),
    numSampled: numberAtLeast(0),
  },
  BatchPlanned: {
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
    runIds: listOf(uuid),
    groupRuns: nullable(typedArray(Int32Array)),
    groupSources: nullable(typedArray(Int32Array)),
    groupRows: nullable(typedArray(Int32Array)),
    episodeGroups: nullable(typedArray(Int32Array)),
    groupWeights: nullable(typedArray(Float64Array)),
    seed: integerAtLeast(0),
  },
  UpdateApplied: {
    planId: uuid,
    epoch: integerAtLeast(0),
    updateNumber: integerAtLeast(0),
    policyVersionOut: integerAtLeast(0),
    weights: file,
    optimizer: file,
    episodeRewards: nullable(typedArray(Float64Array)),
    groupPriorities: nullable(typedArray(Float64Array)),
    engine: nullable(usedEngine),
    trainerState: json,
    metricNames: listOf(nonEmptyText),
    metricValues: typedArray(Float64Array),
  },
  PolicyPublished: {
    policyVersion: integerAtLeast(0),
    parentVersion: nullable(integerAtLeast(0)),
    updateNumber: integerAtLeast(0),
    epoch: integerAtLeast(0),
    weights: file,
    modelHash: nonEmptyText,
    location: text,
  },
  PolicyValidated: POLICY_VALIDATED_RULES,
  TrainerClaimed: {
    epoch: integerAtLeast(0),
    trainerId: nonEmptyText,
  },
  CollectorClaimed: {
    shareIndex: integerAtLeast(0),
    numShares: integerAtLeast(1),
    split,
    trainable: flag,
    round: integerAtLeast(0),
    numGroups: integerAtLeast(1),
    places: typedArray(Int32Array),
    groupIds: listOf(nonEmptyText),
    groupSize: integerAtLeast(1),
    firstOrdinal: integerAtLeast(0),
  },
  MetricsLogged: {
    source: oneOf('trainer', 'collector', 'sink', 'evaluation', 'system'),
    step: integerAtLeast(0),
    names: listOf(nonEmptyText),
    values: typedArray(Float64Array),
  },
  BaselinesMeasured: { baselines: listOf(baseline) },
  WarningRaised: {
    source: warningSource,
    severity: oneOf('warning', 'alarm'),
    step: nullable(integerAtLeast(0)),
    message: nonEmptyText,
    numTimes: integerAtLeast(1),
    rule: text,
    advice: text,
    episodeIds: listOf(uuid),
  },
  AlarmAcknowledged: { rule: text, alarmSource: warningSource, message: text, note: text, source: text },
  AlarmSilenced: { rule: text, untilUs: integerAtLeast(0), note: text, source: text },
  RetentionApplied: { scope: json, detail: text },
  RunDeleted: {
    controlEnd: integerAtLeast(0),
    trajectoryEnds: listOf(integerAtLeast(0)),
    forced: flag,
    detail: text,
  },
  RunAnnotated: {
    tags: nullable(listOf(nonEmptyText)),
    notes: nullable(text),
    starred: nullable(flag),
    archived: nullable(flag),
    source: text,
  },
  EpisodesDeleted: { episodeIds: listOf(uuid), forced: flag, detail: text },
};

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
