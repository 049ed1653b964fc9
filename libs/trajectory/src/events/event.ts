/**
 * The events of Retrace: past tense, immutable, versioned.
 *
 * Stream `trajectories` (partitioned by episode) carries what happened in episodes; stream `control`
 * (one partition) carries what happened to runs, groups, batches, updates and policies.
 * The shapes only; those of episodes in `episode-events.ts`. Encoding: `codec/`. Rules per kind: `validation/`. Fold: `fold/`.
 */

import type {
  EpisodeEnded,
  EpisodeStarted,
  Json,
  RewardAssigned,
  Split,
  StepRecorded,
} from './episode-events.js';

export type {
  EndReason,
  EpisodeEnded,
  EpisodeStarted,
  Json,
  RewardAssigned,
  SamplingParameters,
  Split,
  StepRecorded,
  TokenColumns,
} from './episode-events.js';

export type Stream = 'trajectories' | 'control';

export type EpisodeEventKind = 'EpisodeStarted' | 'StepRecorded' | 'EpisodeEnded' | 'RewardAssigned';

export type ControlEventKind =
  | 'LogOpened'
  | 'RunStarted'
  | 'RunEnded'
  | 'GroupsClosed'
  | 'BatchPlanned'
  | 'UpdateApplied'
  | 'PolicyPublished'
  | 'TrainerClaimed'
  | 'CollectorClaimed'
  | 'MetricsLogged'
  | 'RetentionApplied'
  | 'RunDeleted';

export type EventKind = EpisodeEventKind | ControlEventKind;

/** What every event carries beside its payload. */
export interface Envelope<K extends EventKind = EventKind> {
  /** UUID. Episode events: derived from (runId, episodeId, seq, kind). Control events: UUIDv7, minted once, kept through retries. */
  readonly eventId: string;
  readonly kind: K;
  readonly schemaVersion: number;
  /** Identity of the log that holds the event, from its `LogOpened`. A recreated log is another log. */
  readonly logId: string;
  /** UUID of the run; `''` for events that belong to no run (`LogOpened`, `RetentionApplied` by age). */
  readonly runId: string;
  /** UUID of the episode; `''` for control events. */
  readonly episodeId: string;
  /**
   * Place inside the episode, assigned by its single writer: EpisodeStarted 0, steps 1…numSteps,
   * EpisodeEnded numSteps + 1. `RewardAssigned` has numbers of its own, which only tell assignments apart: a writer that is
   * alone counts from 0, others take a hash of the content. Control events: 0.
   */
  readonly seq: number;
  /** Microseconds since the Unix epoch. */
  readonly occurredAtUs: number;
}

export interface RetraceEvent<K extends EventKind = EventKind> extends Envelope<K> {
  readonly payload: PayloadOf<K>;
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
  /** The whole recipe, as plain JSON. */
  readonly recipe: Json;
  readonly recipeHash: string;
  readonly seed: number;
  readonly environment: string;
  readonly codeVersion: string;
  readonly baselines: readonly Baseline[];
}

export interface RunEnded {
  readonly reason: 'finished' | 'stopped' | 'failed';
  readonly detail: string;
  readonly numUpdates: number;
}

/** Groups that were closed together, as columns: one event a round, however many groups it has. `fold/closed-group.ts` takes them apart. */
export interface GroupsClosed {
  /** Collection round, from 0: groups of one round were planned together. Training rounds count on their own; evaluation groups carry the policy version. */
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
  /** [G] Over the members' action tokens; −1 where no policy of this run acted. */
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

export interface FileRef {
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
  readonly weights: FileRef;
  readonly optimizer: FileRef;
  /**
   * [E] Total reward of each episode of the plan under the plan's reward version, as the update used it: what a judge says later
   * is not in it. NaN = missing, the episode was left out. Null where rewards play no part (imitation), and in commits of
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
  readonly weights: FileRef;
  /** Hash of architecture and tokenizer: two versions of one model differ in weights alone. */
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
  /** The same for all collectors that work at once. */
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

export interface RetentionApplied {
  readonly scope: Json;
  readonly detail: string;
}

/**
 * Takes a run out of the store, and out of the log as far as the log can let go of records. What lies behind the ends stays: a
 * run that was deleted may be imported again.
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

export interface Payloads {
  EpisodeStarted: EpisodeStarted;
  StepRecorded: StepRecorded;
  EpisodeEnded: EpisodeEnded;
  RewardAssigned: RewardAssigned;
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
  RetentionApplied: RetentionApplied;
  RunDeleted: RunDeleted;
}

export type PayloadOf<K extends EventKind> = Payloads[K];

/** Discriminated union over `kind`: `switch (event.kind)` narrows `event.payload`. */
export type AnyEvent = { [K in EventKind]: RetraceEvent<K> }[EventKind];
