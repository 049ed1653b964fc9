import type { EndReason, Json, SamplingParameters, Split } from '@retrace/trajectory';

/** A chat message in OpenAI's shape, stored as given. */
export interface ImportedMessage {
  readonly role: string;
  readonly content: string | null | readonly Json[];
  readonly name?: string;
  readonly tool_calls?: readonly ImportedToolCall[];
  readonly tool_call_id?: string;
  readonly reasoning_content?: string;
}

export interface ImportedToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface CallUsage {
  readonly inputTokens?: number | null;
  readonly cachedInputTokens?: number | null;
  readonly outputTokens?: number | null;
  readonly reasoningTokens?: number | null;
  readonly costUsd?: number | null;
}

/** The tokens that a step appended to its episode's context. */
export interface AppendedTokens {
  readonly ids: readonly number[];
  readonly mask: readonly (0 | 1)[];
  readonly logprobs?: readonly (number | null)[];
  readonly versions?: readonly number[];
  readonly keptPrefix?: number;
}

export interface ImportedStart {
  readonly type: 'episode';
  readonly episode: string;
  readonly groupId?: string;
  readonly groupSize?: number;
  readonly groupMember?: number;
  readonly environment?: string;
  readonly task?: Json;
  readonly environmentSeed?: number;
  readonly samplingSeed?: number;
  readonly split?: Split;
  readonly agent?: string;
  readonly externalId?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Json;
  readonly parentEpisode?: string;
  readonly occurredAt?: string | number;
}

export interface ImportedStep {
  readonly type: 'step';
  readonly episode: string;
  readonly step: number;
  readonly observation?: string;
  readonly action?: string;
  readonly parsedAction?: string | null;
  readonly actionValid?: boolean;
  readonly anchor?: string;
  readonly reward?: number | null;
  readonly rewards?: Readonly<Record<string, number | null>>;
  readonly terminated?: boolean;
  readonly truncated?: boolean;
  readonly info?: Json;
  readonly messages?: { readonly input: readonly ImportedMessage[]; readonly output: ImportedMessage | null };
  readonly usage?: CallUsage;
  readonly tokens?: AppendedTokens;
  readonly sampling?: Partial<SamplingParameters>;
  readonly engine?: string;
  readonly model?: string;
  readonly tokenizerHash?: string;
  readonly logprobMode?: 'processed' | 'raw' | 'none';
  readonly generationMs?: number;
  readonly environmentMs?: number;
  readonly occurredAt?: string | number;
}

export interface ImportedEnd {
  readonly type: 'end';
  readonly episode: string;
  readonly endReason?: EndReason;
  readonly detail?: string;
  readonly finalObservation?: string;
  readonly success?: boolean | null;
  readonly numSteps?: number;
  readonly occurredAt?: string | number;
}

export interface ImportedReward {
  readonly type: 'reward';
  readonly id?: string;
  readonly episode: string;
  readonly step?: number | null;
  readonly name: string;
  readonly value: number | null;
  readonly source?: string;
  readonly rationale?: string;
  readonly occurredAt?: string | number;
}

export type ImportedRecord = ImportedStart | ImportedStep | ImportedEnd | ImportedReward;
