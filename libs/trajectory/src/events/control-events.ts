import {
  flag,
  float64s,
  int32s,
  integerAtLeast,
  json,
  listOf,
  nonEmptyText,
  nullable,
  numberAtLeast,
  numberBetween,
  objectOf,
  oneOf,
  type PayloadsOf,
  text,
  uuid,
} from '../fields/field.js';
import { marked } from '../fields/kind-marks.js';
import { split } from './episode-events.js';

const baseline = objectOf({
  name: nonEmptyText,
  /** Success rate in [0, 1] on `numEpisodes` episodes of `split`. */
  success: numberBetween(0, 1),
  numEpisodes: integerAtLeast(1),
  split: split,
});

/** The fields of the events of runs, their groups, plans and metrics. */
export const RUN_EVENTS = {
  LogOpened: marked(['runless'], {
    adapter: nonEmptyText,
    createdBy: text,
    partitions: objectOf({ trajectories: integerAtLeast(1), control: integerAtLeast(1) }),
  }),

  /** Says how people keep a run. A field that is null stays as it was; of several events the last in log order counts. */
  RunAnnotated: marked(['remark'], {
    /** Replaces all tags of the run. */
    tags: nullable(listOf(nonEmptyText)),
    /** Text of any length; `''` = none. */
    notes: nullable(text),
    starred: nullable(flag),
    /** Whether lists leave it out unless they are asked for it. */
    archived: nullable(flag),
    /** Who says so, in the words of the caller. */
    source: text,
  }),

  RunStarted: {
    name: nonEmptyText,
    /** `trained`: its policy is trained here, by the recipe. `recorded`: agents outside write its episodes. */
    runKind: oneOf('trained', 'recorded').since(2, 'trained'),
    /** The whole recipe, as plain JSON; null in recorded runs. */
    recipe: json,
    /** '' in recorded runs. */
    recipeHash: text,
    /** 0 in recorded runs. */
    seed: integerAtLeast(0),
    /** In recorded runs '' = unknown. */
    environment: text.in('environment'),
    codeVersion: text,
    /** Empty in runs whose baselines are measured beside them; see `BaselinesMeasured`. */
    baselines: listOf(baseline),
    tags: listOf(nonEmptyText).since(2, []),
    /** null = none. */
    metadata: json.since(2, null),
  },

  /** Success rates of the environment's scripted agents, measured while the run went on. The first of a run counts. */
  BaselinesMeasured: {
    baselines: listOf(baseline),
  },

  RunEnded: {
    reason: oneOf('finished', 'stopped', 'failed').in('end_reason'),
    detail: text,
    /** 0 in recorded runs, whose updates a trainer outside may still make. */
    numUpdates: integerAtLeast(0),
  },

  /** Groups that were closed together, as columns: one event a round, however many groups it has. `closedGroups` separates them. */
  GroupsClosed: {
    /** Collection round, from 0: groups of one round were planned together. Training rounds have their own count; evaluation groups have the policy version here. */
    round: integerAtLeast(0),
    split: split.in('split'),
    /** `complete`: all members sealed; `deadline`: with the members that arrived; `abandoned`: none may be sampled. */
    reason: oneOf('complete', 'deadline', 'abandoned').in('end_reason'),
    /** False for validation groups, experts that only imitation uses, and the like. */
    trainable: flag,
    /** [G] */
    groupIds: listOf(nonEmptyText),
    /** [G] Members that were planned. */
    groupSizes: int32s,
    /** [G + 1] Group g has members [memberOffsets[g], memberOffsets[g + 1]) of the columns below. */
    memberOffsets: int32s,
    /** [M] */
    episodeIds: listOf(uuid),
    /** [M] Steps of each member. */
    numSteps: int32s,
    /** [G] Over the members' action tokens. Where no member came to act, the version that was to act; −1 where that is no policy of this run. */
    policyVersionMin: int32s,
    policyVersionMax: int32s,
  },

  /**
   * Groups of the run that no update will be trained on, as the trainer decided. They leave the pool, and the limiter of samples and
   * inserts counts the samples that they would have given.
   */
  GroupsDiscarded: {
    groupIds: listOf(nonEmptyText),
    /** `zeroVariance`: all rewards of a group are equal, so it would teach nothing. */
    reason: oneOf('tooStale', 'zeroVariance').in('end_reason'),
    /** The update that was being planned. */
    updateNumber: integerAtLeast(0).in('update_number'),
  },

  /** The limiter of samples and inserts makes one side wait for the other. It changes no state of a run. */
  SamplingBlocked: {
    side: oneOf('trainer', 'collector'),
    /** The figures and the bound that would be left, in words. */
    reason: nonEmptyText,
    numInserted: integerAtLeast(0),
    /** With the samples that discarded groups would have given. */
    numSampled: numberAtLeast(0),
  },

  BatchPlanned: {
    planId: uuid.in('plan_id'),
    /** Epoch of the trainer that planned; events of stale epochs are discarded by the fold. */
    epoch: integerAtLeast(0).in('epoch'),
    updateNumber: integerAtLeast(0).in('update_number'),
    /** `policy`: a policy-gradient update; `imitation`: behavior cloning. */
    stage: oneOf('policy', 'imitation'),
    policyVersionIn: integerAtLeast(0).in('policy_version'),
    rewardVersion: nonEmptyText,
    recipeHash: nonEmptyText,
    /**
     * Batch manifest: all steps 0 … numSteps − 1 of each episode, in this order. A group without an episode here was sampled and left out: it
     * has lost an event, or its rewards have no variance.
     */
    groupIds: listOf(nonEmptyText),
    episodeIds: listOf(uuid),
    numSteps: int32s,
    samplerState: json,
    /** Other runs that groups of the plan belong to. */
    runIds: listOf(uuid).since(2, []),
    /** [G] Run of each group: 0 = this run, r = `runIds[r − 1]`. Null: all are of this run. A group's identity is its run and its id. */
    groupRuns: nullable(int32s).since(2, null),
    /** [G] Source of each group, as its place in the recipe's `data.sources`; null where the recipe has none. */
    groupSources: nullable(int32s).since(2, null),
    /** [G] Row of each group in the list of its source; −1 for groups of this run. Null: all are of this run. */
    groupRows: nullable(int32s).since(2, null),
    /** [E] Place of each episode's group in `groupIds`; null where no group is of another run. */
    episodeGroups: nullable(int32s).since(2, null),
    /** [G] Importance weights, in (0, 1], by which the sampler corrects its own preference; null = 1 each. */
    groupWeights: nullable(float64s).since(2, null),
    /** Seed of the mini-batch permutation and of every random choice in the update. */
    seed: integerAtLeast(0),
  },

  /**
   * A collector takes its share of a round before it plays it, so that no group is rolled out twice. Written where several
   * collectors share a run; groups that no claim names were played by a run's only collector.
   */
  CollectorClaimed: {
    /** 0 … numShares − 1. A share has one holder at a time, and its newest claim replaces the one before. */
    shareIndex: integerAtLeast(0),
    /** Equal for all collectors that work at the same time. */
    numShares: integerAtLeast(1),
    split: split.in('split'),
    trainable: flag,
    round: integerAtLeast(0),
    /** Of the whole round, over all shares. */
    numGroups: integerAtLeast(1),
    /** [G] Which groups of the round, 0 … numGroups − 1. */
    places: int32s,
    /** [G] */
    groupIds: listOf(nonEmptyText),
    groupSize: integerAtLeast(1),
    /** The claimed episodes have the ordinals from here on, G × groupSize of them. */
    firstOrdinal: integerAtLeast(0),
  },

  MetricsLogged: {
    source: oneOf('trainer', 'collector', 'sink', 'evaluation', 'system').in('source'),
    /** x-axis: the update (trainer, evaluation: policy version) or round (collector) that the values belong to. */
    step: integerAtLeast(0).in('metric_step'),
    names: listOf(nonEmptyText).in('metric_names'),
    /** NaN = not available; never written as 0. */
    values: float64s.in('metric_values'),
  },

  /**
   * Without a run: old runs were deleted, by this rule. Of a run: the rule that holds for its episodes from then on, `maxAgeDays` and
   * `maxEpisodes`, each a number or null; the newest counts.
   */
  RetentionApplied: marked(['runless'], {
    scope: json,
    detail: text,
  }),

  /**
   * Deletes a run from the store, and from the log as far as the log can release records. Records after the ends stay, because a
   * deleted run may be imported again.
   */
  RunDeleted: {
    /** Records of the run before this offset of stream `control` are deleted. */
    controlEnd: integerAtLeast(0),
    /** The same for stream `trajectories`, by partition. */
    trajectoryEnds: listOf(integerAtLeast(0)),
    /** Whether it was deleted although updates of other runs refer to it. */
    forced: flag,
    /** Why, in words. */
    detail: text,
  },

  /**
   * Deletes episodes of the event's run for ever, from the store, and from the log as far as the log can release records. Every record of
   * them is deleted, wherever it is in the log, those too that come later.
   */
  EpisodesDeleted: {
    episodeIds: listOf(uuid),
    /** Whether they were deleted although updates were trained on some of them. */
    forced: flag,
    /** Why, in words. */
    detail: text,
  },
};

export type RunEventPayloads = PayloadsOf<typeof RUN_EVENTS>;
export type RunAnnotated = RunEventPayloads['RunAnnotated'];
export type LogOpened = RunEventPayloads['LogOpened'];
export type RunStarted = RunEventPayloads['RunStarted'];
export type BaselinesMeasured = RunEventPayloads['BaselinesMeasured'];
export type RunEnded = RunEventPayloads['RunEnded'];
export type GroupsClosed = RunEventPayloads['GroupsClosed'];
export type GroupsDiscarded = RunEventPayloads['GroupsDiscarded'];
export type SamplingBlocked = RunEventPayloads['SamplingBlocked'];
export type BatchPlanned = RunEventPayloads['BatchPlanned'];
export type CollectorClaimed = RunEventPayloads['CollectorClaimed'];
export type MetricsLogged = RunEventPayloads['MetricsLogged'];
export type RetentionApplied = RunEventPayloads['RetentionApplied'];
export type RunDeleted = RunEventPayloads['RunDeleted'];
export type EpisodesDeleted = RunEventPayloads['EpisodesDeleted'];
export type Baseline = (typeof baseline)['value'];
