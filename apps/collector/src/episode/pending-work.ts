/** Work under way that nobody awaits by itself. An error of it is kept until somebody asks. */
export class PendingWork {
  private readonly promises = new Set<Promise<void>>();
  private readonly errors: unknown[] = [];

  get size(): number {
    return this.promises.size;
  }

  /** Calls `then` once the work is finished. */
  add(work: Promise<void>, then: () => void): void {
    const promise = work
      .then(then)
      .catch((error: unknown) => {
        this.errors.push(error);
      })
      .finally(() => this.promises.delete(promise));
    this.promises.add(promise);
  }

  /** Resolves when the next piece of work is finished, at once when there is none, or when `signal` aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (this.promises.size === 0 || signal.aborted) return;
    const over = new AbortController();
    const aborted = new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true, signal: over.signal });
    });
    await Promise.race([...this.promises, aborted]);
    over.abort();
  }

  /** @throws the first error of the work so far */
  throwError(): void {
    if (this.errors.length > 0) throw this.errors[0];
  }
}
