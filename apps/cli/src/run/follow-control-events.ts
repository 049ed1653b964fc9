import type { AnyEvent } from '@retrace/trajectory';
import type { EventLog } from '@retrace/log';
import { decodeEvent } from '@retrace/trajectory/codec';

/** A control event and its offset in the log. */
interface ControlRecord {
  readonly offset: number;
  readonly event: AnyEvent;
}

/**
 * Yields control events from `fromOffset` on as they are committed, until `signal` aborts. Records that can't be decoded are
 * left out; the sink stores them as dead letters.
 */
export async function* followControlEvents(
  log: EventLog,
  fromOffset: number,
  signal: AbortSignal,
): AsyncGenerator<ControlRecord> {
  for await (const records of log.follow('control', 0, fromOffset, { signal })) {
    for (const { offset, bytes } of records) {
      const decoded = decodeEvent(bytes);
      if (decoded.ok) yield { offset, event: decoded.event };
    }
  }
}
