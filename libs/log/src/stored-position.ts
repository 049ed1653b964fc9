import type { Stream } from '@retrace/trajectory';
import type { EventLog } from './event-log.js';
import { trajectoryEnds } from './round-starts.js';

/** Cursor group of sinks: offsets up to which the store has the log. Advisory: only the store knows for certain. */
export const SINK_GROUP = 'sink';

/** Cursor group of readers that wait for the store: the offset up to which the last one needs it. Advisory: sinks let nothing before it linger. */
const READER_GROUP = 'store-readers';

/** Tells the sinks that somebody waits until the store has all records before `end` in a stream partition. */
export async function announceReader(log: EventLog, { stream, partition, end }: AwaitedEnd): Promise<void> {
  // The wait is only longer without it.
  await log.commitCursor(READER_GROUP, stream, partition, end).catch(() => undefined);
}

/** Resolves true once a reader waits for the record at an offset; false when the signal aborts. */
export function readerAwaits(
  log: EventLog,
  { stream, partition, offset }: Omit<AwaitedEnd, 'end'> & { readonly offset: number },
  signal: AbortSignal,
): Promise<boolean> {
  return log.cursorReached(READER_GROUP, stream, partition, offset + 1, signal);
}

interface AwaitedEnd {
  readonly stream: Stream;
  readonly partition: number;
  readonly end: number;
}

/**
 * Resolves true once the cursors of the sinks are past every trajectory record that is in the log at the time of the call; false after
 * `timeoutMs`, or when the signal aborts.
 */
export async function trajectoriesStored(
  log: EventLog,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const stop = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const ends = await trajectoryEnds(log);
  const reached = await Promise.all(
    ends.map(async (endOffset, partition) => {
      const stored = await log.readCursor(SINK_GROUP, 'trajectories', partition);
      if (endOffset <= (stored ?? 0)) return true;
      await announceReader(log, { stream: 'trajectories', partition, end: endOffset });
      return log.cursorReached(SINK_GROUP, 'trajectories', partition, endOffset, stop);
    }),
  );
  return reached.every(Boolean);
}

/** Counts the records of a log that no sink has said the store has; offsets without a record count too. */
export async function countStoreBacklog(log: EventLog): Promise<number> {
  let numRecords = 0;
  for (const stream of ['control', 'trajectories'] as const) {
    for (let partition = 0; partition < log.numPartitions(stream); partition++) {
      const stored = (await log.readCursor(SINK_GROUP, stream, partition)) ?? 0;
      numRecords += Math.max(0, (await log.endOffset(stream, partition)) - stored);
    }
  }
  return numRecords;
}
