import type { StepTokens } from './step-tokens.generated.js';

export type { StepTokens };

/** Any JSON value; a field that is `undefined` is left out. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined;
}

/** ISO 8601 text, or whole microseconds since the Unix epoch. */
export type Timestamp = string | number;

export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  /** `arguments` is JSON as text, exactly as the model wrote it. */
  readonly function: { readonly name: string; readonly arguments: string };
}

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A chat message in the shape of OpenAI's chat completions. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string | null | readonly ContentPart[];
  readonly name?: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
  readonly reasoning_content?: string;
}

/** The messages that a step added to the conversation. */
export interface StepMessages {
  /** Those since the previous step's output, in order. */
  readonly input: readonly ChatMessage[];
  /** The agent's own; null when it gave none. */
  readonly output: ChatMessage | null;
}

/** null = unknown. */
export interface TokenUsage {
  readonly inputTokens?: number | null;
  readonly cachedInputTokens?: number | null;
  readonly outputTokens?: number | null;
  readonly reasoningTokens?: number | null;
  readonly costUsd?: number | null;
}

export interface Sampling {
  readonly temperature: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly greedy?: boolean;
  readonly maxNewTokens?: number;
}

export interface EpisodeRecord {
  readonly type: 'episode';
  readonly episode: string;
  readonly groupId?: string;
  readonly groupSize?: number;
  readonly groupMember?: number;
  readonly environment?: string;
  readonly task?: JsonValue;
  readonly environmentSeed?: number;
  readonly samplingSeed?: number;
  readonly split?: 'train' | 'validation' | 'test';
  readonly agent?: string;
  /** The caller's own id of this episode. */
  readonly externalId?: string;
  readonly tags?: readonly string[];
  readonly metadata?: JsonValue;
  /** The episode that called this one: that of the agent whose sub-agent this is. */
  readonly parentEpisode?: string;
  readonly forkedFrom?: { readonly episode: string; readonly step: number };
  readonly occurredAt?: Timestamp;
}

export interface StepRecord {
  readonly type: 'step';
  readonly episode: string;
  readonly step: number;
  readonly observation?: string;
  readonly action?: string;
  readonly parsedAction?: string;
  readonly actionValid?: boolean;
  readonly anchor?: string;
  readonly reward?: number;
  readonly rewards?: Readonly<Record<string, number | null>>;
  readonly terminated?: boolean;
  readonly truncated?: boolean;
  readonly info?: JsonValue;
  readonly messages?: StepMessages;
  readonly usage?: TokenUsage;
  readonly tokens?: StepTokens;
  readonly sampling?: Sampling;
  readonly engine?: string;
  readonly model?: string;
  readonly tokenizerHash?: string;
  readonly logprobMode?: 'processed' | 'raw' | 'none';
  readonly generationMs?: number;
  readonly environmentMs?: number;
  /** Why this step may not be trained on, if the caller knows a reason. */
  readonly untrainable?: string;
  readonly occurredAt?: Timestamp;
}

export type EndReason = 'terminated' | 'truncated' | 'abandoned';

export interface EndRecord {
  readonly type: 'end';
  readonly episode: string;
  readonly endReason?: EndReason;
  readonly detail?: string;
  readonly finalObservation?: string;
  readonly finalTokens?: { readonly ids: readonly number[]; readonly keptPrefix?: number };
  readonly success?: boolean;
  readonly numSteps?: number;
  readonly occurredAt?: Timestamp;
}

export interface RewardRecord {
  readonly type: 'reward';
  readonly id?: string;
  readonly episode: string;
  /** null: the reward is of the whole episode. */
  readonly step?: number | null;
  readonly name: string;
  /** null takes back the reward of this episode, step, name and source. */
  readonly value: number | null;
  readonly source?: string;
  readonly rationale?: string;
  readonly occurredAt?: Timestamp;
}

export interface AnnotationRecord {
  readonly type: 'annotation';
  readonly id?: string;
  readonly episode: string;
  readonly tags?: readonly string[];
  readonly metadata?: JsonValue;
  readonly source?: string;
  readonly occurredAt?: Timestamp;
}

/** A line of `POST /api/runs/{runId}/records`. */
export type RunRecord = EpisodeRecord | StepRecord | EndRecord | RewardRecord | AnnotationRecord;

/** Body of `POST /api/runs`. */
export interface RunStart {
  readonly id: string;
  readonly name: string;
  readonly environment?: string;
  readonly tags?: readonly string[];
  readonly metadata?: JsonValue;
}

/** Body of `POST /api/runs/{runId}/end`. */
export interface RunEnd {
  readonly reason: 'finished' | 'stopped' | 'failed';
  readonly detail?: string;
}
