export interface SinkOptions {
  /**
   * How long a record may wait for others to share its insert (default 500), unless a reader says that it waits for the store
   * (`announceReader`). Training reads the log and waits for nobody. A shorter wait is slower: at 150 a round of 512 episodes took 2.7 inserts
   * instead of one, and an update of frozen-lake-ppo a tenth longer.
   */
  readonly lingerMs?: number;
  /**
   * Average time between the starts of two inserts of one `trajectories` partition (default 60), because each makes a part that the
   * engine has to merge. A full batch does not wait.
   */
  readonly minInsertIntervalMs?: number;
  /** The same for stream `control` (default 2000), whose rows only people and queries read: even a small insert takes 25 ms of CPU time. */
  readonly minControlInsertIntervalMs?: number;
  /** How many inserts may start at once after a pause, ahead of those intervals (default 4). */
  readonly insertBurst?: number;
  /** Most records in one insert (default 20,000). */
  readonly maxBatchRecords?: number;
  /** Most bytes of records in one insert (default 16 MiB). About as much is read ahead for the next one. */
  readonly maxBatchBytes?: number;
  /** After how many offsets an insert includes a watermark row (default 50,000). */
  readonly watermarkInterval?: number;
  /** First and longest pause after a failure (defaults 100 and 5,000; doubles in between). */
  readonly minBackoffMs?: number;
  readonly maxBackoffMs?: number;
  /** How long a partition waits after a failure that no retry is expected to mend (default 10,000). */
  readonly failedRetryMs?: number;
}

export type ResolvedSinkOptions = Required<SinkOptions>;

export function resolveSinkOptions(options: SinkOptions): ResolvedSinkOptions {
  return {
    lingerMs: 500,
    minInsertIntervalMs: 60,
    minControlInsertIntervalMs: 2000,
    insertBurst: 4,
    maxBatchRecords: 20_000,
    maxBatchBytes: 16 * 1024 * 1024,
    watermarkInterval: 50_000,
    minBackoffMs: 100,
    maxBackoffMs: 5_000,
    failedRetryMs: 10_000,
    ...options,
  };
}
