import { setImmediate } from 'node:timers/promises';
import { decodeEvent } from '../../../codec/index.js';
import type { LogRecord } from '../../../event-log.js';
import { eventRow, type EventRow } from '../../arrow/index.js';

/** How long decoding may hold the thread, which others share. */
const MAX_SLICE_MS = 8;

/** A record of the log, ready to become a row. */
export interface DecodedRecord {
  readonly offset: number;
  /** Of the record in the log. */
  readonly sizeBytes: number;
  /** null for a record of a deleted run, which gets none. */
  readonly row: EventRow | null;
  /** null where there is no event. */
  readonly occurredAtMs: number | null;
}

/** A record that becomes a row. */
export type KeptRecord = DecodedRecord & { readonly row: EventRow };

export function isKept(record: DecodedRecord): record is KeptRecord {
  return record.row !== null;
}

/**
 * Decodes what the log gives as soon as it comes, so that an insert that is due has little left to do. Lets other work in
 * every few milliseconds. Records that hold no valid event become dead letters.
 */
export async function* decodeAhead(
  source: AsyncIterable<LogRecord[]>,
  isDeleted: (record: LogRecord) => boolean,
): AsyncGenerator<DecodedRecord[]> {
  for await (const records of source) {
    let decoded: DecodedRecord[] = [];
    let sliceEndMs = performance.now() + MAX_SLICE_MS;
    for (const record of records) {
      decoded.push(isDeleted(record) ? passedOver(record) : decodeRecord(record));
      if (performance.now() < sliceEndMs) continue;
      yield decoded;
      decoded = [];
      await setImmediate();
      sliceEndMs = performance.now() + MAX_SLICE_MS;
    }
    if (decoded.length > 0) yield decoded;
  }
}

function passedOver({ offset, bytes }: LogRecord): DecodedRecord {
  return { offset, sizeBytes: bytes.length, row: null, occurredAtMs: null };
}

export function decodeRecord({ offset, bytes }: LogRecord): KeptRecord {
  const sizeBytes = bytes.length;
  const decoded = decodeEvent(bytes);
  if (!decoded.ok) {
    const { code, reason } = decoded;
    return { offset, sizeBytes, row: { offset, deadLetter: { code, reason, bytes } }, occurredAtMs: null };
  }
  const { event } = decoded;
  return { offset, sizeBytes, row: eventRow(offset, event), occurredAtMs: event.occurredAtUs / 1000 };
}
