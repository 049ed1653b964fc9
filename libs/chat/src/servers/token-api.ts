import type { ServerQuestion } from '../calls/server-question.js';
import type { LikeliestOfPrompt } from '../tokens/answered-tokens.js';

/** Whether logprobs are of the model's distribution (`raw`), or of the one after temperature, top-k and top-p (`processed`). */
export type LogprobMode = 'raw' | 'processed';

/** A turn that a policy is asked for. */
export interface GenerationRequest {
  /** The whole context: prompts and actions so far. */
  readonly tokenIds: ArrayLike<number>;
  /** Name under which the server serves the weights that shall sample. */
  readonly model: string;
  readonly temperature: number;
  /** Tokens of the support; 0 is all. */
  readonly topK: number;
  readonly topP: number;
  /** Takes the likeliest tokens instead of sampling. */
  readonly greedy: boolean;
  readonly maxNewTokens: number;
  /** Tokens that end the turn; they are part of it. */
  readonly stopTokenIds: readonly number[];
  /** Texts that end the turn. */
  readonly stopStrings: readonly string[];
  readonly seed: number;
}

/** Consecutive tokens of a turn that one version of the weights sampled: `start` to `end` − 1. */
export interface VersionSpan {
  readonly version: string;
  readonly start: number;
  readonly end: number;
}

export interface GeneratedTokens {
  /** [numTokens], with the token that ended the turn. */
  readonly tokenIds: Int32Array;
  /** [numTokens], in nats, ≤ 0; NaN = missing. Of which distribution: `LogprobMode`. */
  readonly logprobs: Float32Array;
  /** null where the server does not say it. */
  readonly versions: readonly VersionSpan[] | null;
  /** `length`: at `maxNewTokens`. */
  readonly stopReason: 'stopToken' | 'stopString' | 'length';
}

export interface LikeliestRequest {
  readonly tokenIds: readonly number[];
  readonly model: string;
  readonly temperature: number;
  readonly numTokens: number;
}

export interface ScoreRequest {
  readonly tokenIds: readonly number[];
  readonly model: string;
  /** How many of the model's likeliest tokens to tell at each place; none by default. */
  readonly topK?: number;
}

export interface ScoredTokens {
  /** [numTokens] log π of each token after those before it, in nats; NaN where the server has none, as for the first, which nothing is before. */
  readonly logprobs: Float32Array;
  /** At the places of the same tokens; null where none were asked for. */
  readonly likeliest: LikeliestOfPrompt | null;
}

/**
 * The requests by which a kind of server samples tokens from tokens, and the answers to them.
 *
 * Implementers:
 * - Nothing of the sampling is left to defaults of the server.
 * - `score` gives logprobs at temperature 1. With `topK` its answer is refused unless it has as many likeliest tokens at each place but the first.
 * - `likeliest` gives the most likely tokens after a context with their logprobs at a temperature, by token.
 */
export interface TokenApi {
  /** Name of the program, and the route whose answer has its `version`. */
  readonly program: { readonly name: string; readonly path: string };
  /** Route of all these requests. */
  readonly path: string;
  generate(request: GenerationRequest): ServerQuestion<GeneratedTokens>;
  score(request: ScoreRequest): ServerQuestion<ScoredTokens>;
  likeliest(request: LikeliestRequest): ServerQuestion<ReadonlyMap<string, number>>;
}
