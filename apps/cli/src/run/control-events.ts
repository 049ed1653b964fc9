import type { AnyEvent } from '@retrace/trajectory';
import type { EventLog, LogRecord } from '@retrace/log';
import { decodeEvent } from '@retrace/trajectory/codec';

/** A control event and where it lies. */
export interface ControlRecord {
  readonly offset: number;
  readonly event: AnyEvent;
}

const partition = 0;

/** Control events from the start to the present end, in log order. */
export async function* readControlEvents(log: EventLog): AsyncGenerator<ControlRecord> {
  let next = 0;
  for (;;) {
    const records = await log.read('control', partition, next);
    if (records.length === 0) return;
    yield* decodeAll(records);
    next = records[records.length - 1].offset + 1;
  }
}

/** Control events from `fromOffset` on as they are committed, until `signal` aborts. */
export async function* followControlEvents(
  log: EventLog,
  fromOffset: number,
  signal: AbortSignal,
): AsyncGenerator<ControlRecord> {
  for await (const records of log.follow('control', partition, fromOffset, { signal })) {
    yield* decodeAll(records);
  }
}

/** Records that can't be decoded are left out here; the sink keeps them as dead letters. */
function* decodeAll(records: readonly LogRecord[]): Generator<ControlRecord> {
  for (const { offset, bytes } of records) {
    const decoded = decodeEvent(bytes);
    if (decoded.ok) yield { offset, event: decoded.event };
  }
}
