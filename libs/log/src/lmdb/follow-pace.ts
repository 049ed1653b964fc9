import type { Doorbell } from './doorbell.js';

const MIN_PAUSE_MS = 1;

/**
 * Decides when a follower reads again: at the next ring of the doorbell, or after a pause of 1 ms, which doubles each time no record was
 * found, up to the doorbell's `maxPauseMs`.
 */
export class FollowPace {
  private pauseMs = MIN_PAUSE_MS;

  constructor(private readonly doorbell: Doorbell) {
    doorbell.listen();
  }

  foundRecords(): void {
    this.pauseMs = MIN_PAUSE_MS;
  }

  /** Resolves when it is time to read again, or immediately if the signal aborts. */
  async pause(signal: AbortSignal | undefined): Promise<void> {
    await this.doorbell.wait(this.pauseMs, signal);
    this.pauseMs = Math.min(this.pauseMs * 2, this.doorbell.maxPauseMs);
  }
}
