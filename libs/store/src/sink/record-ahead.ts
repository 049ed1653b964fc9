import type { EventLog } from '@retrace/log';
import type { Stream } from '@retrace/trajectory';

/**
 * Whether a record lies between two offsets. Where an append was cut short the log may have offsets without one: parts of it, which
 * every reader skips, and which no record need follow.
 */
export async function hasRecordIn(
  log: EventLog,
  { stream, partition, from, end }: { stream: Stream; partition: number; from: number; end: number },
): Promise<boolean> {
  if (from >= end) return false;
  const [first] = await log.read(stream, partition, from, { maxRecords: 1 });
  return first !== undefined && first.offset < end;
}
