import type { LogRecord } from '@retrace/log';
import { type AnyEvent, type EpisodeEventKind, fingerprintOf, isEpisodeEventKind } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import { eventRow } from '../rows/event-rows.js';
import { describePlaceFault, describeUnknownRun, findTooLarge } from './admission-fault.js';
import { type AdmissionResult, type DecidedRecord, DROPPED, RETRY } from './admission-result.js';
import type { Admission } from './admission.js';

/** Decides what becomes of the next record in log order. */
export function admitRecord(record: LogRecord, admission: Admission): AdmissionResult {
  if (admission.isDeleted(record)) return DROPPED;
  const tooLarge = findTooLarge(record, admission);
  if (tooLarge !== undefined) return { kind: 'deadLetter', ...tooLarge };
  const decoded = decodeEvent(record.bytes);
  if (!decoded.ok) return { kind: 'deadLetter', code: decoded.code, reason: decoded.reason };
  return isEpisodeEventKind(decoded.event.kind)
    ? admitEpisodeEvent(record.offset, decoded.event, admission)
    : admitControlEvent(record.offset, decoded.event, admission);
}

function admitControlEvent(offset: number, event: AnyEvent, admission: Admission): AdmissionResult {
  switch (admission.admitControl(event)) {
    case 'accepted':
      return { kind: 'accepted', event, row: eventRow(offset, event) };
    case 'unknownRun':
      return { kind: 'deadLetter', ...describeUnknownRun(event) };
    case 'retry':
      return RETRY;
  }
}

function admitEpisodeEvent(offset: number, event: AnyEvent, admission: Admission): AdmissionResult {
  const places = admission.findPlaces(event.runId, event.episodeId);
  if (places === undefined) return RETRY;
  const { kind, seq, episodeId } = event as AnyEvent & { readonly kind: EpisodeEventKind };
  const row = eventRow(offset, event);
  const placement = places.take(kind, seq, fingerprintOf(row.checksum));
  places.lastOffset = offset;
  if (placement === 'placed') return { kind: 'accepted', event, row };
  return { kind: 'deadLetter', ...describePlaceFault(placement, { kind, seq, episodeId }, places) };
}

/** Decides what becomes of `records[index]`, reading from the store what is missing about it and the records behind it. */
export async function decideRecord(
  records: readonly LogRecord[],
  index: number,
  admission: Admission,
): Promise<DecidedRecord> {
  for (;;) {
    const result = admitRecord(records[index], admission);
    if (result.kind !== 'retry') return result;
    await admission.learn(records.slice(index));
  }
}
