const MIN_PAUSE_MS = 1;
const MAX_PAUSE_MS = 16;

/**
 * When a follower looks again. Nobody is notified across processes, so it polls: after 1 ms at first, then twice as
 * long each time nothing was there, up to 16 ms. Commits of this process ring the doorbell and end the pause.
 */
export class FollowPace {
  readonly #doorbell: Doorbell;
  #pauseMs = MIN_PAUSE_MS;

  constructor(doorbell: Doorbell) {
    this.#doorbell = doorbell;
  }

  foundRecords(): void {
    this.#pauseMs = MIN_PAUSE_MS;
  }

  /** Resolves when it is time to look again, or at once when the signal aborts. */
  async pause(signal: AbortSignal | undefined): Promise<void> {
    await this.#doorbell.wait(this.#pauseMs, signal);
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }
}

/** Wakes everyone who waits. */
export class Doorbell {
  readonly #waiting = new Set<() => void>();

  ring(): void {
    for (const wake of this.#waiting) wake();
  }

  wait(timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      signal?.addEventListener('abort', wake, { once: true });
      this.#waiting.add(wake);
      if (signal?.aborted) wake();
    });
  }
}
