/**
 * The events of Retrace: past tense, immutable, versioned.
 *
 * Stream `trajectories` (partitioned by episode) carries what happened in episodes; stream `control`
 * (one partition) carries what happened to runs, groups, batches, updates and policies.
 * This file holds the shapes only. Encoding: `codec/`. Rules per kind: `validation/`. Fold: `fold/`.
 */

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

export type Split = 'train' | 'validation' | 'test';

/** A JSON value, for the open-ended fields (task, info, recipe). */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface EpisodeStarted {
  /** Episodes that share task and environment seed, sampled independently. */
  readonly groupId: string;
  readonly groupSize: number;
  /** Place of the episode in its group, 0 … groupSize − 1. */
  readonly groupMember: number;
  readonly environment: string;
  /** What the environment was reset with (task parameters). */
  readonly task: Json;
  readonly environmentSeed: number;
  readonly samplingSeed: number;
  readonly split: Split;
  /** Who acts: `policy` (the run's policy), `expert`, `random`, or the name of an external agent. */
  readonly agent: string;
  /** The step this episode was forked from. */
  readonly forkedFrom: { readonly episodeId: string; readonly step: number } | null;
}

/**
 * Token columns of a step, all equally long: what this step appended to the context
 * (observation/template tokens first, then action tokens).
 */
export interface TokenColumns {
  readonly tokenIds: Int32Array;
  /** 1 where the policy sampled the token. */
  readonly actionMask: Uint8Array;
  /** Behavior logprob (nats) under the transform that was sampled from; NaN = missing, 0 where not sampled. */
  readonly tokenLogprobs: Float32Array;
  /** Logprob before the sampling transform, where known. */
  readonly tokenRawLogprobs: Float32Array | null;
  /** Entropy (nats) of the sampled-from distribution, where known. */
  readonly tokenEntropies: Float32Array | null;
  /** Policy version that sampled the token (for tokens not sampled: the version that read it). −1 = no policy of this run. */
  readonly tokenPolicyVersions: Int32Array;
}

export interface SamplingParameters {
  readonly temperature: number;
  /** 0 = off. */
  readonly topK: number;
  /** 1 = off. */
  readonly topP: number;
  readonly greedy: boolean;
  readonly maxNewTokens: number;
}

export interface StepRecorded extends TokenColumns {
  /** 0 … numSteps − 1; equals envelope `seq` − 1. */
  readonly step: number;
  readonly observation: string;
  readonly action: string;
  /** The action as the environment understood it; null when it could not be parsed. */
  readonly parsedAction: string | null;
  readonly actionValid: boolean;
  /** What the environment says identifies its state (GiGPO); null when it offers none. Never prompt text. */
  readonly anchor: string | null;
  /** Missing (null) is not zero. */
  readonly reward: number | null;
  readonly rewardNames: readonly string[];
  readonly rewardValues: Float64Array;
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly info: Json;
  /** How many tokens of the episode's context so far this step's prompt kept; fewer than all = a new sequence starts. */
  readonly keptPrefixTokens: number;
  readonly sampling: SamplingParameters | null;
  readonly engine: string;
  readonly model: string;
  readonly tokenizerHash: string;
  /** What `tokenLogprobs` are: after the sampling transform, before it, or absent. */
  readonly logprobMode: 'processed' | 'raw' | 'none';
  readonly generationMs: number;
  readonly environmentMs: number;
  /** Reference to an environment snapshot, if the environment has one. */
  readonly snapshot: string | null;
}

export type EndReason = 'terminated' | 'truncated' | 'abandoned';

/** Seals the episode's steps. */
export interface EpisodeEnded {
  readonly endReason: EndReason;
  /** Why, in words, for abandoned episodes; '' otherwise. */
  readonly endDetail: string;
  /** Observation after the last action: V(s_T) needs it when truncated. */
  readonly finalObservation: string;
  readonly finalTokenIds: Int32Array;
  /** As `StepRecorded.keptPrefixTokens`, for the final observation's prompt. */
  readonly finalKeptPrefixTokens: number;
  readonly numSteps: number;
  /** Sum of step rewards that are not missing; null when all are missing. */
  readonly return: number | null;
  readonly success: boolean | null;
  readonly numTokens: number;
  readonly numActionTokens: number;
  /** −1 when no policy of this run sampled in it. */
  readonly policyVersionMin: number;
  readonly policyVersionMax: number;
}

export interface RewardAssigned {
  /** The step it rewards; null = the whole episode. */
  readonly step: number | null;
  readonly name: string;
  /** null retracts an earlier value: missing, not zero. */
  readonly value: number | null;
  readonly source: string;
  readonly rationale: string;
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
