import type { EndReason, SamplingParameters } from '../events/episode-events.js';
import type { Json } from '../json/json.js';

/**
 * The Agent Trajectory Interchange Format of Harbor (RFC 0001), versions 1.0 to 1.8. Field names are those of the format. It has no
 * field for rewards, policy versions or sampling: Retrace carries those in `extra.retrace`, which other readers ignore.
 */
export interface AtifTrajectory {
  /** `ATIF-v1.0` … `ATIF-v1.8`. */
  readonly schema_version: string;
  readonly session_id?: string | null;
  readonly trajectory_id?: string | null;
  readonly agent: AtifAgent;
  readonly steps: readonly AtifStep[];
  readonly notes?: string | null;
  readonly final_metrics?: AtifFinalMetrics | null;
  readonly continued_trajectory_ref?: string | null;
  readonly subagent_trajectories?: readonly AtifTrajectory[] | null;
  readonly extra?: AtifExtra<AtifRetraceEpisode> | null;
}

export interface AtifAgent {
  readonly name: string;
  readonly version: string;
  readonly model_name?: string | null;
  /** OpenAI function schemas. */
  readonly tool_definitions?: readonly Json[] | null;
  readonly extra?: Readonly<Record<string, Json>> | null;
}

export type AtifSource = 'system' | 'user' | 'agent';

export interface AtifStep {
  /** From 1, without gaps. */
  readonly step_id: number;
  /** ISO 8601. */
  readonly timestamp?: string | null;
  readonly source: AtifSource;
  readonly model_name?: string | null;
  readonly reasoning_effort?: string | number | null;
  /** Text, or since 1.6 content parts (text, image; since 1.8 audio). */
  readonly message: string | readonly Json[];
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly AtifToolCall[] | null;
  readonly observation?: { readonly results: readonly AtifObservationResult[] } | null;
  readonly metrics?: AtifMetrics | null;
  /** Set on a step that only repeats context of a trajectory that this one continues. */
  readonly is_copied_context?: boolean | null;
  readonly llm_call_count?: number | null;
  readonly extra?: AtifExtra<AtifRetraceStep> | null;
}

export interface AtifToolCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: Readonly<Record<string, Json>>;
  readonly extra?: Readonly<Record<string, Json>> | null;
}

export interface AtifObservationResult {
  readonly source_call_id?: string | null;
  readonly content?: string | readonly Json[] | null;
  readonly subagent_trajectory_ref?: readonly Json[] | null;
  readonly extra?: Readonly<Record<string, Json>> | null;
}

export interface AtifMetrics {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly cached_tokens?: number | null;
  readonly cost_usd?: number | null;
  /** Ids of the whole prompt of the call. */
  readonly prompt_token_ids?: readonly number[] | null;
  readonly completion_token_ids?: readonly number[] | null;
  /** One for each completion token, nats. */
  readonly logprobs?: readonly number[] | null;
  readonly extra?: Readonly<Record<string, Json>> | null;
}

export interface AtifFinalMetrics {
  readonly total_prompt_tokens?: number | null;
  readonly total_completion_tokens?: number | null;
  readonly total_cached_tokens?: number | null;
  readonly total_cost_usd?: number | null;
  readonly total_steps?: number | null;
  readonly extra?: Readonly<Record<string, Json>> | null;
}

/** An open object with Retrace's own fields under `retrace`. */
export interface AtifExtra<T> {
  readonly retrace?: T;
  readonly [key: string]: unknown;
}

/** `extra.retrace` of the root: fields of the episode that the format has no place for. All optional: missing = unknown. */
export interface AtifRetraceEpisode {
  readonly runId?: string;
  readonly episodeId?: string;
  readonly environment?: string;
  readonly task?: Json;
  readonly environmentSeed?: number | null;
  readonly samplingSeed?: number | null;
  readonly groupId?: string;
  readonly groupSize?: number;
  readonly groupMember?: number;
  readonly split?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Json;
  readonly endReason?: EndReason;
  readonly endDetail?: string;
  readonly finalObservation?: string;
  readonly success?: boolean | null;
  /** Rewards of the whole episode by name. */
  readonly rewards?: Readonly<Record<string, number | null>>;
}

/** `extra.retrace` of an agent's step: rewards, versions and sampling. All optional: missing = unknown. */
export interface AtifRetraceStep {
  readonly reward?: number | null;
  readonly rewards?: Readonly<Record<string, number | null>>;
  /** Policy version of each completion token. */
  readonly versions?: readonly number[];
  readonly sampling?: SamplingParameters | null;
  readonly engine?: string;
  readonly tokenizerHash?: string;
  readonly logprobMode?: 'processed' | 'raw' | 'none';
  readonly observation?: string;
  readonly action?: string;
  readonly parsedAction?: string | null;
  readonly actionValid?: boolean | null;
  readonly anchor?: string | null;
  readonly terminated?: boolean;
  readonly truncated?: boolean;
  /** `keptMessages` in it says how many messages of the context so far the prompt of the call kept (default all). */
  readonly info?: Json;
  /** In place of `prompt_token_ids`, where whole prompts would be too long: what the prompt appended to the first tokens of the context. */
  readonly prompt?: { readonly ids: readonly number[]; readonly keptPrefix: number };
}
