/** How a server is asked. */
export interface EngineOptions {
  readonly timeoutMs: number;
  readonly maxRetries: number;
  /** Time for one turn, with all its requests and pauses (default as `ServiceRequest`). */
  readonly deadlineMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

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
  /** [numTokens], in nats, ≤ 0; NaN = missing. Of which distribution: `TokenEngine.logprobMode`. */
  readonly logprobs: Float32Array;
  /** null where the server does not say it. */
  readonly versions: readonly VersionSpan[] | null;
  /** `length`: at `maxNewTokens`. */
  readonly stopReason: 'stopToken' | 'stopString' | 'length';
}

/** Whether logprobs are of the model's distribution (`raw`), or of the one after temperature, top-k and top-p (`processed`). */
export type LogprobMode = 'raw' | 'processed';

/** A server that samples tokens from tokens. */
export interface TokenEngine {
  /** Name and version of the server, as it says. */
  describe(signal?: AbortSignal): Promise<string>;
  /**
   * The most likely tokens after a context, with their logprobs at a temperature, by token.
   *
   * @throws EndpointError
   */
  likeliest(request: LikeliestRequest): Promise<ReadonlyMap<string, number>>;
  /**
   * Scores given tokens, each after those before it, at temperature 1.
   *
   * @returns [numTokens] logprobs in nats; the first is NaN, as nothing is before it
   * @throws EndpointError
   */
  score(request: ScoreRequest, signal?: AbortSignal): Promise<Float32Array>;
  /** @throws EndpointError; the signal's reason once it aborts */
  generate(request: GenerationRequest, signal?: AbortSignal): Promise<GeneratedTokens>;
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
}
