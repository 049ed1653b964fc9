export interface CircuitBreakerOptions {
  /** Failures in a row after which the service counts as down. */
  readonly maxFailuresInARow: number;
  /** Milliseconds after the latest failure before one call may try it again. */
  readonly pauseMs: number;
}

/**
 * Keeps calls from a service that is down (circuit breaker; Nygard, Release It!, 2007). Closed, it admits every call. After so many
 * failures in a row it opens and admits none; after a pause it is half-open and admits one call at a time, whose answer closes it
 * and whose failure begins another pause.
 */
export class CircuitBreaker {
  private numFailures = 0;
  private lastFailureMs = 0;
  private isProbing = false;

  constructor(private readonly options: CircuitBreakerOptions) {}

  get failuresInARow(): number {
    return this.numFailures;
  }

  /** Whether a call may be made; its outcome must be reported by `answered` or `failed`. */
  admit(): boolean {
    const { maxFailuresInARow, pauseMs } = this.options;
    if (this.numFailures < maxFailuresInARow) return true;
    if (this.isProbing || performance.now() - this.lastFailureMs < pauseMs) return false;
    this.isProbing = true;
    return true;
  }

  /** The service answered, whatever it said. */
  answered(): void {
    this.numFailures = 0;
    this.isProbing = false;
  }

  failed(): void {
    this.numFailures++;
    this.lastFailureMs = performance.now();
    this.isProbing = false;
  }
}
