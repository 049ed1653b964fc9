/** Bounds and clocks of a recorder; all have defaults. */
export interface RecorderOptions {
  /** Longest wait for the log's acknowledgement (default 10,000). */
  readonly appendTimeoutMs?: number;
  /** Longest wait for the store, where it is asked about what this process has forgotten (default 10,000). */
  readonly storeTimeoutMs?: number;
  /** Bound on the memory of episode states, over all partitions (default 64 MiB). */
  readonly maxStateBytes?: number;
  /** Most records of a batch (default 10,000). */
  readonly maxRecords?: number;
  /** Brings the store up to date with the log, where no other process does; without it the store is waited for. */
  readonly catchUp?: () => Promise<void>;
  /** Hides what may not be stored; gets each record and each request about a run once it is checked (default: nothing is hidden). */
  readonly redact?: <T extends object>(value: T) => T;
  /** Microseconds since the Unix epoch. */
  readonly nowUs?: () => number;
}

export const MAX_RECORDS = 10_000;
