import type { Doorbell } from './doorbell.js';

const MIN_PAUSE_MS = 1;

/**
 * When a follower looks again: at the doorbell's next ring, or of itself after 1 ms at first and then twice as long each
 * time nothing was there, up to the doorbell's `maxPauseMs`.
 */
export class FollowPace {
  private readonly doorbell: Doorbell;
  private pauseMs = MIN_PAUSE_MS;

  constructor(doorbell: Doorbell) {
    this.doorbell = doorbell;
    doorbell.listen();
  }

  foundRecords(): void {
    this.pauseMs = MIN_PAUSE_MS;
  }

  /** Resolves when it is time to look again, or at once when the signal aborts. */
  async pause(signal: AbortSignal | undefined): Promise<void> {
    await this.doorbell.wait(this.pauseMs, signal);
    this.pauseMs = Math.min(this.pauseMs * 2, this.doorbell.maxPauseMs);
  }
}
