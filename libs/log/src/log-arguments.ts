import { TrajectoryError, type Stream } from '@retrace/trajectory';
import { LogError } from './log-error.js';

/** Largest record that a log takes; a larger one is a writer's mistake. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** Defaults of `ReadOptions`. */
export const DEFAULT_MAX_RECORDS = 10_000;
export const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;

/** @throws TrajectoryError `INVALID_ARGUMENT` for no records; LogError `LOG_RECORD_TOO_LARGE` */
export function requireRecords(records: readonly Uint8Array[]): void {
  if (records.length === 0) {
    throw new TrajectoryError('INVALID_ARGUMENT', 'append got 0 records; must get at least one');
  }
  for (const record of records) {
    if (record.length > MAX_RECORD_BYTES) {
      const message = `record has ${record.length} bytes; must have at most ${MAX_RECORD_BYTES}`;
      throw new LogError('LOG_RECORD_TOO_LARGE', message);
    }
  }
}

/** @throws TrajectoryError `INVALID_ARGUMENT` unless `value` is an integer from 0 to `max` */
export function requireOffset(name: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new TrajectoryError('INVALID_ARGUMENT', `${name} is ${value}; must be an integer from 0 to ${max}`);
  }
}

/** Returns the partition of a stream. @throws LogError `LOG_UNKNOWN_PARTITION` */
export function requirePartition<Partition>(
  partitions: Readonly<Record<Stream, readonly Partition[]>>,
  stream: Stream,
  partition: number,
): Partition {
  if (!Object.hasOwn(partitions[stream], partition)) {
    const message = `partition of stream ${stream} is ${partition}; must be an integer from 0 to ${partitions[stream].length - 1}`;
    throw new LogError('LOG_UNKNOWN_PARTITION', message);
  }
  return partitions[stream][partition];
}
