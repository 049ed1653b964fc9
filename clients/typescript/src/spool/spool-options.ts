export interface SpoolOptions {
  /** Directory on a local disk. Any number of processes may share it. */
  readonly directory: string;
  /** Waits for the disk after each write, so that records also survive a loss of power (default false). */
  readonly fsync?: boolean;
  /** Most bytes on disk, beyond which new records are dropped (default 1 GiB). */
  readonly maxBytes?: number;
  /** Most bytes of records that wait to be written to the disk (default 16 MiB). */
  readonly maxMemoryBytes?: number;
  /** A file is closed and another begun beyond this size (default 8 MiB). */
  readonly segmentBytes?: number;
}
