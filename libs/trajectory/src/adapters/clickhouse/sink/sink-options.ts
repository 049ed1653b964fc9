export interface SinkOptions {
  /** How long a record may wait for others to share its insert (default 40). */
  readonly lingerMs?: number;
  /**
   * Shortest time between the starts of two inserts of one partition (default 200): each makes a part that the engine has
   * to merge. A full batch does not wait.
   */
  readonly minInsertIntervalMs?: number;
  /** Most records an insert carries (default 20,000). */
  readonly maxBatchRecords?: number;
  /** Most bytes of records an insert carries (default 16 MiB), and about what is read ahead for the next. */
  readonly maxBatchBytes?: number;
  /** After how many offsets a watermark row goes along (default 50,000). */
  readonly watermarkInterval?: number;
  /** First and longest pause after a failure (defaults 100 and 5,000; doubles in between). */
  readonly minBackoffMs?: number;
  readonly maxBackoffMs?: number;
}

export type ResolvedSinkOptions = Required<SinkOptions>;

export function resolveSinkOptions(options: SinkOptions): ResolvedSinkOptions {
  return {
    lingerMs: 40,
    minInsertIntervalMs: 200,
    maxBatchRecords: 20_000,
    maxBatchBytes: 16 * 1024 * 1024,
    watermarkInterval: 50_000,
    minBackoffMs: 100,
    maxBackoffMs: 5_000,
    ...options,
  };
}
