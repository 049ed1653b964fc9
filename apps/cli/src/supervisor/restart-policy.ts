/** The end of one process of a role. */
export interface Failure {
  /** The last sentence of the process, or how it ended. */
  readonly sentence: string;
  /** Whether a signal from outside ended the process. That says nothing about the next one. */
  readonly killed: boolean;
  /** Whether the process said that the next one would end in the same way. */
  readonly isFinal: boolean;
  /** Time from ready to the end; 0 when the process never became ready. */
  readonly healthyMs: number;
}

export interface RestartLimits {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A process that lives this long after it became ready resets the counts. */
  readonly healthyAfterMs: number;
  /** Give up after this many failures in a row with the same sentence, */
  readonly maxSameSentence: number;
  /** or after this many failures of any kind. */
  readonly maxFailures: number;
}

const DEFAULT_RESTART_LIMITS: RestartLimits = {
  firstDelayMs: 250,
  maxDelayMs: 30_000,
  healthyAfterMs: 60_000,
  maxSameSentence: 4,
  maxFailures: 12,
};

/** Decides after each failure whether to restart, and after which delay: exponential backoff with limits. */
export class RestartPolicy {
  private numFailures = 0;
  private numSameSentence = 0;
  private lastSentence = '';

  constructor(private readonly limits: RestartLimits = DEFAULT_RESTART_LIMITS) {}

  get longestDelayMs(): number {
    return this.limits.maxDelayMs;
  }

  get healthyAfterMs(): number {
    return this.limits.healthyAfterMs;
  }

  /** Milliseconds to wait before the next start, or null to give up. */
  delayAfter(failure: Failure): number | null {
    if (failure.isFinal) return null;
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
