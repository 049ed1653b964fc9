/**
 * Decides when the next insert may start: on average one every `intervalMs`, because each makes a part that the engine has to merge,
 * but up to `burst` in a row after a pause, so that the last records of a burst do not wait (a generic cell rate algorithm, as in
 * ITU-T I.371).
 */
export class InsertPace {
  /** When the next insert would be due if all kept the interval, on `performance.now()`'s clock. */
  private dueMs = -Infinity;

  constructor(
    private readonly intervalMs: number,
    private readonly burst: number,
  ) {}

  get notBeforeMs(): number {
    return this.dueMs - (this.burst - 1) * this.intervalMs;
  }

  started(nowMs: number): void {
    this.dueMs = Math.max(this.dueMs, nowMs) + this.intervalMs;
  }
}
