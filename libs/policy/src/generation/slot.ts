import { LiveTurn } from './turn.js';
import type { Decode, FinishedTurn, SampledToken, TurnRequest } from './turn.js';

/** One episode's context, how much of it is cached, and the turn that runs on it. */
export class Slot {
  turn: LiveTurn | null = null;
  private readonly tokens: Int32Array;
  private numTokens = 0;
  private numCached = 0;

  constructor(
    maxTokens: number,
    private readonly decode: Decode | null,
  ) {
    this.tokens = new Int32Array(maxTokens);
  }

  get length(): number {
    return this.numTokens;
  }

  /** Position of the first token that must be computed before the next can be sampled; the last one always must. */
  get firstUncached(): number {
    return Math.min(this.numCached, this.numTokens - 1);
  }

  /** The tokens of the context from `start` to before `end`, as a view. */
  tokensBetween(start: number, end: number): Int32Array {
    return this.tokens.subarray(start, end);
  }

  /** Starts a turn. Cached tokens stay cached as far as the new context begins with them, even after the episode of the old one ended. */
  begin(request: TurnRequest): void {
    const { keptPrefixTokens, tokenIds } = request;
    const end = Math.min(this.numCached, keptPrefixTokens + tokenIds.length);
    let same = Math.min(keptPrefixTokens, end);
    while (same < end && this.tokens[same] === tokenIds[same - keptPrefixTokens]) same++;
    this.numCached = same;
    this.tokens.set(tokenIds, keptPrefixTokens);
    this.numTokens = keptPrefixTokens + tokenIds.length;
    this.turn = new LiveTurn(request, this.decode);
  }

  /** How many of the first `limit` tokens are the same as in another slot's context. */
  commonPrefix(other: Slot, limit: number): number {
    const end = Math.min(limit, this.numTokens);
    let same = 0;
    while (same < end && this.tokens[same] === other.tokens[same]) same++;
    return same;
  }

  /** How many tokens are in the cache, even if their episode has ended. */
  get cachedTokens(): number {
    return this.numCached;
  }

  /** Records that the first `numTokens` tokens are in the cache. */
  markCached(numTokens: number): void {
    this.numCached = numTokens;
  }

  forgetCache(): void {
    this.numCached = 0;
  }

  /** Adds a sampled token to the context; returns the finished turn if it was the last, else null. */
  append(turn: LiveTurn, token: SampledToken, policyVersion: number): FinishedTurn | null {
    this.tokens[this.numTokens++] = token.tokenId;
    const finished = turn.append(token, policyVersion);
    if (finished !== null) this.turn = null;
    return finished;
  }

  clear(): void {
    this.turn = null;
    this.numTokens = 0;
  }
}
