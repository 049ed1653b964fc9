import type {
  GeneratedTokens,
  GenerationRequest,
  LikeliestRequest,
  ScoredTokens,
  ScoreRequest,
} from '@retrace/chat';

/** How a server is asked. */
export interface EngineOptions {
  readonly timeoutMs: number;
  readonly maxRetries: number;
  /** Time for one turn, with all its requests and pauses (default as `ServiceRequest`). */
  readonly deadlineMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

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
   * @throws EndpointError
   */
  score(request: ScoreRequest, signal?: AbortSignal): Promise<ScoredTokens>;
  /** @throws EndpointError; the signal's reason once it aborts */
  generate(request: GenerationRequest, signal?: AbortSignal): Promise<GeneratedTokens>;
}
