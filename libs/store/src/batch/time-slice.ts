import { setImmediate } from 'node:timers/promises';

/** How long one job may keep the thread, which other jobs share. */
const MAX_SLICE_MS = 8;

/** Measures how long a job has kept the thread. */
export class TimeSlice {
  private endMs = performance.now() + MAX_SLICE_MS;

  get isOver(): boolean {
    return performance.now() > this.endMs;
  }

  /** Lets other jobs run. */
  async next(): Promise<void> {
    await setImmediate();
    this.endMs = performance.now() + MAX_SLICE_MS;
  }
}
