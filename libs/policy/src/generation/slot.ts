import { LiveTurn } from './turn.js';
import type { FinishedTurn, SampledToken, TurnRequest } from './turn.js';

/** One episode's context, how much of it is cached, and the turn that runs on it. */
export class Slot {
  turn: LiveTurn | null = null;
  private readonly tokens: Int32Array;
  private numTokens = 0;
  private numCached = 0;

  constructor(maxTokens: number) {
    this.tokens = new Int32Array(maxTokens);
  }

  get length(): number {
    return this.numTokens;
  }

  /** Position from which tokens have to be computed before the next can be sampled; the last always has to. */
  get firstUncached(): number {
    return Math.min(this.numCached, this.numTokens - 1);
  }

  /** Tokens from `start` on (a view). */
  tokensFrom(start: number): Int32Array {
    return this.tokens.subarray(start, this.numTokens);
  }

  begin(request: TurnRequest): void {
    this.tokens.set(request.tokenIds, request.keptPrefixTokens);
    this.numTokens = request.keptPrefixTokens + request.tokenIds.length;
    this.numCached = Math.min(this.numCached, request.keptPrefixTokens);
    this.turn = new LiveTurn(request);
  }

  /** All tokens are in the cache now. */
  markCached(): void {
    this.numCached = this.numTokens;
  }

  forgetCache(): void {
    this.numCached = 0;
  }

  /** Adds a sampled token to the context; the finished turn, if that was its last. */
  append(turn: LiveTurn, token: SampledToken, policyVersion: number): FinishedTurn | null {
    this.tokens[this.numTokens++] = token.tokenId;
    const finished = turn.append(token, policyVersion);
    if (finished !== null) this.turn = null;
    return finished;
  }

  clear(): void {
    this.turn = null;
    this.numTokens = 0;
    this.numCached = 0;
  }
}
