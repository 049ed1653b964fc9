import { countStoreBacklog, type EventLog } from '@retrace/log';

/** How often the log is asked; on Kafka each time takes a request for every partition. */
const LOOK_MS = 5_000;
/** Time without progress after which the store counts as unavailable: a rebuild or a slow disk is over sooner. */
const AWAY_MS = 60_000;

/** Follows how far the store is behind the log. A run does not wait for it, so nothing else of it would tell. */
export class StoreLag {
  private numRecords = 0;
  private lookedMs = -Infinity;
  private progressedMs: number | null = null;
  private isTold = false;

  constructor(
    private readonly log: EventLog,
    private readonly warn: (message: string) => void,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Returns how many records the store lacks, as of the last seconds, and warns once where it has long taken none. */
  async observe(): Promise<number> {
    const now = this.nowMs();
    if (now - this.lookedMs < LOOK_MS) return this.numRecords;
    this.lookedMs = now;
    const before = this.numRecords;
    this.numRecords = await countStoreBacklog(this.log);
    // What is appended meanwhile can hide progress, but not for a minute: a sink that works takes all that there is.
    if (this.numRecords === 0 || this.numRecords < before) {
      this.progressedMs = now;
      this.isTold = false;
    }
    this.progressedMs ??= now;
    if (now - this.progressedMs >= AWAY_MS && !this.isTold) {
      this.isTold = true;
      const what = `the store has taken nothing for ${Math.round((now - this.progressedMs) / 1000)} s`;
      this.warn(`${what}, and ${this.numRecords} records wait in the log for it; the run goes on without it`);
    }
    return this.numRecords;
  }
}
