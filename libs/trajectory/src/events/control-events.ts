import type { PolicyPublished, TrainerClaimed, UpdateApplied } from './commit-events.js';
import type { DatasetCreated, DatasetEpisodesListed } from './dataset-events.js';
import type { Split } from './episode-events.js';
import type { Json } from '../json/json.js';
import type { LineagePayloads } from './lineage-events.js';
import type { NotebookDeleted, NotebookSaved } from './notebook-events.js';
import type { PolicyValidated } from './validation-events.js';
import type { AlarmAcknowledged, AlarmSilenced, WarningRaised } from './warning-events.js';

/** Payloads of stream `control` (one partition): runs, groups, batches, updates, policies, data sets and notebooks. */
export interface ControlPayloads extends LineagePayloads {
  LogOpened: LogOpened;
  RunStarted: RunStarted;
  RunEnded: RunEnded;
  GroupsClosed: GroupsClosed;
  GroupsDiscarded: GroupsDiscarded;
  SamplingBlocked: SamplingBlocked;
  BatchPlanned: BatchPlanned;
  UpdateApplied: UpdateApplied;
  PolicyPublished: PolicyPublished;
  PolicyValidated: PolicyValidated;
  TrainerClaimed: TrainerClaimed;
  CollectorClaimed: CollectorClaimed;
  MetricsLogged: MetricsLogged;
  BaselinesMeasured: BaselinesMeasured;
  WarningRaised: WarningRaised;
  AlarmAcknowledged: AlarmAcknowledged;
  AlarmSilenced: AlarmSilenced;
  RunAnnotated: RunAnnotated;
  RetentionApplied: RetentionApplied;
  RunDeleted: RunDeleted;
  EpisodesDeleted: EpisodesDeleted;
  DatasetEpisodesListed: DatasetEpisodesListed;
  DatasetCreated: DatasetCreated;
  NotebookSaved: NotebookSaved;
  NotebookDeleted: NotebookDeleted;
}

/** Says how people keep a run. A field that is null stays as it was; of several events the last in log order counts. */
export interface RunAnnotated {
  /** Replaces all tags of the run. */
  readonly tags: readonly string[] | null;
  /** Text of any length; `''` = none. */
  readonly notes: string | null;
  readonly starred: boolean | null;
  /** Whether lists leave it out unless they are asked for it. */
  readonly archived: boolean | null;
  /** Who says so, in the words of the caller. */
  readonly source: string;
}

export interface LogOpened {
  readonly adapter: string;
  readonly createdBy: string;
  readonly partitions: { readonly trajectories: number; readonly control: number };
}

export interface Baseline {
  readonly name: string;
  /** Success rate in [0, 1] on `numEpisodes` episodes of `split`. */
  readonly success: number;
  readonly numEpisodes: number;
  readonly split: Split;
}

export interface RunStarted {
  readonly name: string;
  /** `trained`: its policy is trained here, by the recipe. `recorded`: agents outside write its episodes. */
  readonly runKind: 'trained' | 'recorded';
  /** The whole recipe, as plain JSON; null in recorded runs. */
  readonly recipe: Json;
  /** '' in recorded runs. */
  readonly recipeHash: string;
  /** 0 in recorded runs. */
  readonly seed: number;
  /** In recorded runs '' = unknown. */
  readonly environment: string;
  readonly codeVersion: string;
  /** Empty in runs whose baselines are measured beside them; see `BaselinesMeasured`. */
  readonly baselines: readonly Baseline[];
  readonly tags: readonly string[];
  /** null = none. */
  readonly metadata: Json;
}

/** Success rates of the environment's scripted agents, measured while the run went on. The first of a run counts. */
export interface BaselinesMeasured {
  readonly baselines: readonly Baseline[];
}

export interface RunEnded {
  readonly reason: 'finished' | 'stopped' | 'failed';
  readonly detail: string;
  /** 0 in recorded runs, whose updates a trainer outside may still make. */
  readonly numUpdates: number;
}

/** Groups that were closed together, as columns: one event a round, however many groups it has. `closedGroups` separates them. */
export interface GroupsClosed {
  /** Collection round, from 0: groups of one round were planned together. Training rounds have their own count; evaluation groups have the policy version here. */
  readonly round: number;
  readonly split: Split;
  /** `complete`: all members sealed; `deadline`: with the members that arrived; `abandoned`: none may be sampled. */
  readonly reason: 'complete' | 'deadline' | 'abandoned';
  /** False for validation groups, experts that only imitation uses, and the like. */
  readonly trainable: boolean;
  /** [G] */
  readonly groupIds: readonly string[];
  /** [G] Members that were planned. */
  readonly groupSizes: Int32Array;
  /** [G + 1] Group g has members [memberOffsets[g], memberOffsets[g + 1]) of the columns below. */
  readonly memberOffsets: Int32Array;
  /** [M] */
  readonly episodeIds: readonly string[];
  /** [M] Steps of each member. */
  readonly numSteps: Int32Array;
  /** [G] Over the members' action tokens. Where no member came to act, the version that was to act; −1 where that is no policy of this run. */
  readonly policyVersionMin: Int32Array;
  readonly policyVersionMax: Int32Array;
}

/**
 * Groups of the run that no update will be trained on, as the trainer decided. They leave the pool, and the limiter of samples and
 * inserts counts the samples that they would have given.
 */
export interface GroupsDiscarded {
  readonly groupIds: readonly string[];
  /** `zeroVariance`: all rewards of a group are equal, so it would teach nothing. */
  readonly reason: 'tooStale' | 'zeroVariance';
  /** The update that was being planned. */
  readonly updateNumber: number;
}

/** The limiter of samples and inserts makes one side wait for the other. It changes no state of a run. */
export interface SamplingBlocked {
  readonly side: 'trainer' | 'collector';
  /** The figures and the bound that would be left, in words. */
  readonly reason: string;
  readonly numInserted: number;
  /** With the samples that discarded groups would have given. */
  readonly numSampled: number;
}

export interface BatchPlanned {
  readonly planId: string;
  /** Epoch of the trainer that planned; events of stale epochs are discarded by the fold. */
  readonly epoch: number;
  readonly updateNumber: number;
  /** `policy`: a policy-gradient update; `imitation`: behavior cloning. */
  readonly stage: 'policy' | 'imitation';
  readonly policyVersionIn: number;
  readonly rewardVersion: string;
  readonly recipeHash: string;
  /**
   * Batch manifest: all steps 0 … numSteps − 1 of each episode, in this order. A group without an episode here was sampled and left out: it
   * has lost an event, or its rewards have no variance.
   */
  readonly groupIds: readonly string[];
  readonly episodeIds: readonly string[];
  readonly numSteps: Int32Array;
  readonly samplerState: Json;
  /** Other runs that groups of the plan belong to. */
  readonly runIds: readonly string[];
  /** [G] Run of each group: 0 = this run, r = `runIds[r − 1]`. Null: all are of this run. A group's identity is its run and its id. */
  readonly groupRuns: Int32Array | null;
  /** [G] Source of each group, as its place in the recipe's `data.sources`; null where the recipe has none. */
  readonly groupSources: Int32Array | null;
  /** [G] Row of each group in the list of its source; −1 for groups of this run. Null: all are of this run. */
  readonly groupRows: Int32Array | null;
  /** [E] Place of each episode's group in `groupIds`; null where no group is of another run. */
  readonly episodeGroups: Int32Array | null;
  /** [G] Importance weights, in (0, 1], by which the sampler corrects its own preference; null = 1 each. */
  readonly groupWeights: Float64Array | null;
  /** Seed of the mini-batch permutation and of every random choice in the update. */
  readonly seed: number;
}

/**
 * A collector takes its share of a round before it plays it, so that no group is rolled out twice. Written where several
 * collectors share a run; groups that no claim names were played by a run's only collector.
 */
export interface CollectorClaimed {
  /** 0 … numShares − 1. A share has one holder at a time, and its newest claim replaces the one before. */
  readonly shareIndex: number;
  /** Equal for all collectors that work at the same time. */
  readonly numShares: number;
  readonly split: Split;
  readonly trainable: boolean;
  readonly round: number;
  /** Of the whole round, over all shares. */
  readonly numGroups: number;
  /** [G] Which groups of the round, 0 … numGroups − 1. */
  readonly places: Int32Array;
  /** [G] */
  readonly groupIds: readonly string[];
  readonly groupSize: number;
  /** The claimed episodes have the ordinals from here on, G × groupSize of them. */
  readonly firstOrdinal: number;
}

export interface MetricsLogged {
  readonly source: 'trainer' | 'collector' | 'sink' | 'evaluation' | 'system';
  /** x-axis: the update (trainer, evaluation: policy version) or round (collector) that the values belong to. */
  readonly step: number;
  readonly names: readonly string[];
  /** NaN = not available; never written as 0. */
  readonly values: Float64Array;
}

/**
 * Without a run: old runs were deleted, by this rule. Of a run: the rule that holds for its episodes from then on, `maxAgeDays` and
 * `maxEpisodes`, each a number or null; the newest counts.
 */
export interface RetentionApplied {
  readonly scope: Json;
  readonly detail: string;
}

/**
 * Deletes a run from the store, and from the log as far as the log can release records. Records after the ends stay, because a
 * deleted run may be imported again.
 */
export interface RunDeleted {
  /** Records of the run before this offset of stream `control` are deleted. */
  readonly controlEnd: number;
  /** The same for stream `trajectories`, by partition. */
  readonly trajectoryEnds: readonly number[];
  /** Whether it was deleted although updates of other runs refer to it. */
  readonly forced: boolean;
  /** Why, in words. */
  readonly detail: string;
}

/**
 * Deletes episodes of the event's run for ever, from the store, and from the log as far as the log can release records. Every record of
 * them is deleted, wherever it is in the log, those too that come later.
 */
export interface EpisodesDeleted {
  readonly episodeIds: readonly string[];
  /** Whether they were deleted although updates were trained on some of them. */
  readonly forced: boolean;
  /** Why, in words. */
  readonly detail: string;
}
