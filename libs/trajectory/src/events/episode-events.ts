import type { Json } from '../json/json.js';
import type { StepTokenColumns } from './token-columns.js';

/** Payloads of stream `trajectories` (partitioned by episode). */
export interface EpisodePayloads {
  EpisodeStarted: EpisodeStarted;
  StepRecorded: StepRecorded;
  EpisodeEnded: EpisodeEnded;
  RewardAssigned: RewardAssigned;
  EpisodeAnnotated: EpisodeAnnotated;
}

export type Split = 'train' | 'validation' | 'test';

export interface EpisodeStarted {
  /** Episodes that share task and environment seed, sampled independently. */
  readonly groupId: string;
  readonly groupSize: number;
  /** Place of the episode in its group, 0 … groupSize − 1. */
  readonly groupMember: number;
  /** '' = unknown. */
  readonly environment: string;
  /** Task parameters that the environment was reset with. */
  readonly task: Json;
  /** null = unknown. */
  readonly environmentSeed: number | null;
  /** null = unknown. */
  readonly samplingSeed: number | null;
  readonly split: Split;
  /** The actor: `policy` (the run's policy), `expert`, `random`, or the name of an external agent. */
  readonly agent: string;
  /** The step this episode was forked from. */
  readonly forkedFrom: { readonly episodeId: string; readonly step: number } | null;
  /** The run of the episode that it was forked from; null = its own run, or no fork. */
  readonly forkedFromRunId: string | null;
  /** The caller's own id of the episode; '' = none. */
  readonly externalId: string;
  /** Tags that it started with; `EpisodeAnnotated` may replace them. */
  readonly tags: readonly string[];
  /** null = none; `EpisodeAnnotated` may replace it. */
  readonly metadata: Json;
  /** The episode that called this one, as an agent calls a sub-agent; null = none. Forks and retries have `forkedFrom`. */
  readonly parentEpisodeId: string | null;
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

/** Tokens and cost of the model calls of a step, as the provider counted them; null = unknown. */
export interface Usage {
  readonly inputTokens: number | null;
  /** Input tokens that came from the provider's cache. */
  readonly cachedInputTokens: number | null;
  readonly outputTokens: number | null;
  /** Output tokens that were reasoning. */
  readonly reasoningTokens: number | null;
  /** US dollars. */
  readonly costUsd: number | null;
}

export interface StepRecorded extends StepTokenColumns {
  /** 0 … numSteps − 1; equals envelope `seq` − 1. */
  readonly step: number;
  readonly observation: string;
  readonly action: string;
  /** The action as the environment understood it; null when it could not be parsed. */
  readonly parsedAction: string | null;
  /** null = unknown. */
  readonly actionValid: boolean | null;
  /** Identifies the state of the environment, according to the environment (GiGPO); null when it offers none. Never prompt text. */
  readonly anchor: string | null;
  /** Missing (null) is not zero. */
  readonly reward: number | null;
  readonly rewardNames: readonly string[];
  readonly rewardValues: Float64Array;
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly info: Json;
  /** Number of tokens of the episode's context so far that this step's prompt kept; fewer than all = a new sequence starts. */
  readonly keptPrefixTokens: number;
  /** null = unknown, or nothing was sampled. */
  readonly sampling: SamplingParameters | null;
  /** Engine, model and tokenizer hash: '' = unknown. */
  readonly engine: string;
  readonly model: string;
  readonly tokenizerHash: string;
  /** Whether `tokenLogprobs` are after the sampling transform, before it, or absent. */
  readonly logprobMode: 'processed' | 'raw' | 'none';
  /** null = unknown. */
  readonly generationMs: number | null;
  /** null = unknown. */
  readonly environmentMs: number | null;
  /** Reference to an environment snapshot, if the environment has one. */
  readonly snapshot: string | null;
  /**
   * Chat messages that this step added to the conversation, in the form of OpenAI's chat API: `{ "input": […], "output": … }`. Input:
   * those since the output of the step before, in order. Output: the agent's message; null = none. null = no chat.
   */
  readonly messages: Json;
  readonly usage: Usage | null;
  /** Why no policy gradient may train on the step, in words; '' = it may. At least what `findUntrainableReason` says. */
  readonly untrainable: string;
}

export type EndReason = 'terminated' | 'truncated' | 'abandoned';

/** Seals the episode's steps. */
export interface EpisodeEnded {
  readonly endReason: EndReason;
  /** Reason in words for truncated and abandoned episodes; '' otherwise. */
  readonly endDetail: string;
  /** Observation after the last action: V(s_T) needs it when truncated. Empty, with no tokens, where the environment failed to give one. */
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

/** Changes what is known about an episode; of several the newest counts, by time and then by place in the log. */
export interface EpisodeAnnotated {
  /** Replace the episode's tags; null = unchanged. */
  readonly tags: readonly string[] | null;
  /** Replaces the episode's metadata; null = unchanged. */
  readonly metadata: Json;
  /** Who or what annotates. */
  readonly source: string;
}
