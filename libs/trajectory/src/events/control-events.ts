import type { DatasetCreated, DatasetEpisodesListed } from './dataset-events.js';
import type { Json, Split } from './episode-events.js';

/** Payloads of stream `control` (one partition): runs, groups, batches, updates, policies and data sets. */
export interface ControlPayloads {
  LogOpened: LogOpened;
  RunStarted: RunStarted;
  RunEnded: RunEnded;
  GroupsClosed: GroupsClosed;
  BatchPlanned: BatchPlanned;
  UpdateApplied: UpdateApplied;
  PolicyPublished: PolicyPublished;
  TrainerClaimed: TrainerClaimed;
  CollectorClaimed: CollectorClaimed;
  MetricsLogged: MetricsLogged;
  BaselinesMeasured: BaselinesMeasured;
  WarningRaised: WarningRaised;
  RetentionApplied: RetentionApplied;
  RunDeleted: RunDeleted;
  EpisodesDeleted: EpisodesDeleted;
  DatasetEpisodesListed: DatasetEpisodesListed;
  DatasetCreated: DatasetCreated;
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
  /** Batch manifest: all steps 0 … numSteps − 1 of each episode, in this order. */
  readonly groupIds: readonly string[];
  readonly episodeIds: readonly string[];
  readonly numSteps: Int32Array;
  readonly samplerState: Json;
  /** Seed of the mini-batch permutation and of every random choice in the update. */
  readonly seed: number;
}

export interface CheckpointFile {
  /** SHA-256, hex; the file's name in the checkpoint store. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** The commit of an update. */
export interface UpdateApplied {
  readonly planId: string;
  readonly epoch: number;
  readonly updateNumber: number;
  readonly policyVersionOut: number;
  readonly weights: CheckpointFile;
  readonly optimizer: CheckpointFile;
  /**
   * [E] Total reward of each episode of the plan under the plan's reward version, as the update used it, without later
   * scores of judges. NaN = missing, the episode was left out. Null where rewards play no part (imitation), and in commits of
   * schema version 1.
   */
  readonly episodeRewards: Float64Array | null;
  readonly trainerState: Json;
  readonly metricNames: readonly string[];
  readonly metricValues: Float64Array;
}

export interface PolicyPublished {
  readonly policyVersion: number;
  /** Version it was trained from; null for the first. */
  readonly parentVersion: number | null;
  readonly updateNumber: number;
  readonly epoch: number;
  readonly weights: CheckpointFile;
  /** Hash of architecture and tokenizer: versions of one model differ only in weights. */
  readonly modelHash: string;
}

export interface TrainerClaimed {
  readonly epoch: number;
  readonly trainerId: string;
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

/** Something that a person should know of and that did not end the process. It changes no state of a run. */
export interface WarningRaised {
  /** Who warns; `system` is the supervisor. */
  readonly source: 'trainer' | 'collector' | 'sink' | 'api' | 'store' | 'system';
  /** `alarm`: the run does not do what it is for, as when an update trained on nothing. */
  readonly severity: 'warning' | 'alarm';
  /** Update (trainer) or round (collector) that it belongs to; null where it belongs to none. */
  readonly step: number | null;
  readonly message: string;
  /** How often its process has said this so far, this time included. Not every repetition is an event. */
  readonly numTimes: number;
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
