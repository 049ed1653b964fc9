/** How one life of a role's process ended. */
export interface Failure {
  /** What the process said last, or how it ended. */
  readonly sentence: string;
  /** True when a signal from outside ended it: that says nothing about the next life. */
  readonly killed: boolean;
  /** Time from ready to the end; 0 when it never was ready. */
  readonly healthyMs: number;
}

export interface RestartLimits {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A life at least this long after ready clears the count. */
  readonly healthyAfterMs: number;
  /** Give up after so many failures in a row with the same sentence … */
  readonly maxSameSentence: number;
  /** … or so many failures of any kind. */
  readonly maxFailures: number;
}

const defaultRestartLimits: RestartLimits = {
  firstDelayMs: 250,
  maxDelayMs: 30_000,
  healthyAfterMs: 60_000,
  maxSameSentence: 4,
  maxFailures: 12,
};

/** Exponential backoff with a limit: decides after each failure whether, and when, to start again. */
export class RestartPolicy {
  private numFailures = 0;
  private numSameSentence = 0;
  private lastSentence = '';

  constructor(private readonly limits: RestartLimits = defaultRestartLimits) {}

  get longestDelayMs(): number {
    return this.limits.maxDelayMs;
  }

  get healthyAfterMs(): number {
    return this.limits.healthyAfterMs;
  }

  /** Milliseconds to wait before the next start, or null to give up. */
  delayAfter(failure: Failure): number | null {
    if (failure.healthyMs >= this.limits.healthyAfterMs) {
      this.numFailures = 0;
      this.numSameSentence = 0;
    }
    this.numFailures += 1;
    if (failure.killed) this.numSameSentence = 0;
    else this.numSameSentence = failure.sentence === this.lastSentence ? this.numSameSentence + 1 : 1;
    this.lastSentence = failure.sentence;
    if (this.numSameSentence >= this.limits.maxSameSentence || this.numFailures >= this.limits.maxFailures) {
      return null;
    }
    return Math.min(this.limits.maxDelayMs, this.limits.firstDelayMs * 2 ** (this.numFailures - 1));
  }
}
