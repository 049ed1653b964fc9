import type { Json } from '@retrace/trajectory';
import type { WireMessage, WireStep, WireUsage } from '@retrace/recording';

/** One call of a model. */
export interface ModelCall {
  /** The whole prompt; empty where the source did not record it. */
  readonly input: readonly WireMessage[];
  readonly output: WireMessage | null;
  readonly usage: WireUsage | null;
  readonly model: string;
  readonly engine: string;
  readonly sampling: WireStep['sampling'] | null;
  readonly tokens: CallTokens | null;
  /** Definitions of the tools that it offered; null where the source did not record them. */
  readonly tools: readonly Json[] | null;
  /** Id of the response: spans that record the same call twice share it. '' = none. */
  readonly responseId: string;
}

export interface CallTokens {
  readonly prompt: readonly number[];
  readonly completion: readonly number[];
  readonly logprobs: readonly (number | null)[] | null;
  readonly version: number | null;
}

/** A reward that a trace has. */
export interface TraceReward {
  /** Key by which the same reward is known again. */
  readonly id: string;
  readonly name: string;
  readonly value: number;
  readonly source: string;
  readonly rationale: string;
  /** The call that it rewards: the one of its own node or the last one before it; or the episode. */
  readonly of: 'own-call' | 'preceding-call' | 'episode';
}

/** A span or observation, as the mapping to episodes sees it; every source of traces is brought into this form. */
export interface TraceNode {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: 'call' | 'agent' | 'tool' | 'other';
  /** Place among the nodes where the source numbers them, else the same for all. */
  readonly sequence: number;
  readonly startUs: number | undefined;
  readonly endUs: number | undefined;
  /** Words of the failure; '' = it went well, null = it did not end. */
  readonly failure: string;
  readonly call: ModelCall | null;
  /** A tool's result as a message. */
  readonly toolResult: WireMessage | null;
  readonly agentName: string;
  /** Names of what is incomplete in a call's span (default none). */
  readonly cut?: readonly string[];
  readonly rewards: readonly TraceReward[];
}

/** Facts of the whole trace. */
export interface TraceContext {
  readonly episode: string;
  readonly environment: string | undefined;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** How it ended, where the source says; null = by its root. */
  readonly end: { readonly endReason: 'terminated' | 'truncated'; readonly detail: string } | null;
  /** Row of the dump that skipped parts are reported under. */
  readonly row: number | null;
}
