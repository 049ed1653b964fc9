import type { MetricRecord } from '../records/metric-record.js';

/**
 * Writes the records of one run somewhere, in order.
 *
 * Duties of an implementer: `open` finds out how many records of the run are there complete, and removes what a writer that was cut off left
 * of the next one; `write` gets each later record once; what is there before is never changed.
 */
export interface MetricWriter {
  /** Records of the run that were there when it was opened. */
  readonly numPresent: number;
  /** Appends a record; when it resolves, other processes see it. */
  write(record: MetricRecord): Promise<void>;
  close(): Promise<void>;
}
