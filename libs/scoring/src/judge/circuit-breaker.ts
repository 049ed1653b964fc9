export interface CircuitBreakerOptions {
  /** Failures in a row after which the service counts as down. */
  readonly maxFailuresInARow: number;
  /** Milliseconds after the latest failure before one call may try it again. */
  readonly pauseMs: number;
}

/**
 * Keeps calls from a service that is down (circuit breaker; Nygard, Release It!, 2007). Closed, every call passes. After so many
 * failures in a row it opens and none does; after a pause it is half-open: one call at a time may try, whose answer closes it
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

  /** Whether a call may go out; each that may reports back with `answered` or `failed`. */
  admit(): boolean {
    const { maxFailuresInARow, pauseMs } = this.options;
    if (this.numFailures < maxFailuresInARow) return true;
    if (this.isProbing || performance.now() - this.lastFailureMs < pauseMs) return false;
    this.isProbing = true;
    return true;
  }

  /** The service is there, whatever it said. */
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
