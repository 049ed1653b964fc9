export interface SinkOptions {
  /**
   * How long a record may wait for others to share its insert (default 500). Trajectories that a control event follows wait no
   * longer: a trainer may be waiting for the round that it closes, and an insert under way would hold up the one that ends it. At 150
   * a round of 512 episodes took 2.7 inserts in place of one, and an update of frozen-lake-ppo a tenth longer.
   */
  readonly lingerMs?: number;
  /**
   * Time between the starts of two inserts of one `trajectories` partition, on average (default 60): each makes a part that
   * the engine has to merge. A full batch does not wait.
   */
  readonly minInsertIntervalMs?: number;
  /** The same for stream `control` (default 2000), whose rows only people and queries read: an insert of few rows costs 25 ms of CPU. */
  readonly minControlInsertIntervalMs?: number;
  /** How many inserts may start at once after a pause, ahead of those intervals (default 4). */
  readonly insertBurst?: number;
  /** Most records an insert carries (default 20,000). */
  readonly maxBatchRecords?: number;
  /** Most bytes of records an insert carries (default 16 MiB), and about what is read ahead for the next. */
  readonly maxBatchBytes?: number;
  /** After how many offsets a watermark row goes along (default 50,000). */
  readonly watermarkInterval?: number;
  /** First and longest pause after a failure (defaults 100 and 5,000; doubles in between). */
  readonly minBackoffMs?: number;
  readonly maxBackoffMs?: number;
  /** How long a partition that failed for a reason that no retry mends waits before it is tried again (default 10,000). */
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
