import { setTimeout as sleep } from 'node:timers/promises';

export interface PaceOptions {
  /** Most requests a minute; without it, any number. */
  readonly requestsPerMinute?: number;
  /** Most tokens of prompts and answers a minute; without it, any number. */
  readonly tokensPerMinute?: number;
}

const MINUTE_MS = 60_000;

/**
 * Spaces requests evenly, so that no minute has more of them, or of their tokens, than a server allows (the generic cell rate algorithm
 * without bursts; ITU-T I.371). A server that refuses one for its limit holds all of them back for a while.
 */
export class Pace {
  /** When the next request may be made, by requests and by tokens. */
  private nextRequestMs = 0;
  private nextTokensMs = 0;
  private heldUntilMs = 0;

  constructor(private readonly options: PaceOptions) {}

  /**
   * Takes a place for a request, and returns how long to wait for it, in milliseconds.
   *
   * @param numTokens of its prompt, and the most of its answer
   */
  place(numTokens: number): number {
    const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = this.options;
    const nowMs = performance.now();
    const startMs = Math.max(nowMs, this.nextRequestMs, this.nextTokensMs, this.heldUntilMs);
    this.nextRequestMs = startMs + MINUTE_MS / requestsPerMinute;
    this.nextTokensMs = startMs + (MINUTE_MS * numTokens) / tokensPerMinute;
    return startMs - nowMs;
  }

  /** Holds every request back that has no place yet. */
  hold(ms: number): void {
    this.heldUntilMs = Math.max(this.heldUntilMs, performance.now() + ms);
  }

  /** Waits until no request is held back. @throws the signal's reason once it aborts */
  async untilFree(signal: AbortSignal | undefined): Promise<void> {
    for (let ms = this.heldForMs; ms > 0; ms = this.heldForMs) await sleep(ms, undefined, { signal });
  }

  get heldForMs(): number {
    return Math.max(0, this.heldUntilMs - performance.now());
  }
}
