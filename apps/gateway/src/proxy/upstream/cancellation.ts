/** Says whether a request is still wanted, and tells its one listener when it no longer is; `AbortSignal` does so at several times the cost. */
export class Cancellation {
  private listener: (() => void) | null = null;
  private isDone = false;

  get isCancelled(): boolean {
    return this.isDone;
  }

  cancel(): void {
    this.isDone = true;
    this.listener?.();
  }

  /** Replaces the listener; null: nobody has to hear of it. */
  listen(listener: (() => void) | null): void {
    this.listener = listener;
  }
}
