import type { LogRecord } from '@retrace/log';
import {
  type AnyEvent,
  contentChecksum,
  type EpisodeEventKind,
  toFingerprint,
  isEpisodeEventKind,
} from '@retrace/trajectory';
import { decodeEvent, type DecodedEvent } from '@retrace/trajectory/codec';
import { describePlaceFault, describeUnknownRun, findTooLarge } from './admission-fault.js';
import { type AdmissionResult, type DecidedRecord, DROPPED, RETRY } from './admission-result.js';
import type { Admission } from './admission.js';

/** The part of an admission that the decision about a single record asks. */
export type RecordAdmission = Pick<Admission, 'maxEventBytes' | 'isDeleted' | 'findPlaces' | 'admitControl'>;

/**
 * Decides what becomes of the next record in log order: for the sink, and for all who read the log as the store will show it.
 *
 * @param checksumOf by which events at one place are compared; a reader that keeps the first of a place, whatever comes later, needs none
 * @param decode gives what `decodeEvent` gives, where a reader knows it already
 */
export function admitRecord(
  record: LogRecord,
  admission: RecordAdmission,
  checksumOf: (event: AnyEvent) => string = contentChecksum,
  decode: (bytes: Uint8Array) => DecodedEvent = decodeEvent,
): AdmissionResult {
  if (admission.isDeleted(record)) return DROPPED;
  const tooLarge = findTooLarge(record, admission);
  if (tooLarge !== undefined) return { kind: 'deadLetter', ...tooLarge };
  const decoded = decode(record.bytes);
  if (!decoded.ok) return { kind: 'deadLetter', code: decoded.code, reason: decoded.reason };
  return isEpisodeEventKind(decoded.event.kind)
    ? admitEpisodeEvent(decoded.event, { admission, checksumOf, offset: record.offset })
    : admitControlEvent(decoded.event, { admission, checksumOf });
}

interface Deciding {
  readonly admission: RecordAdmission;
  readonly checksumOf: (event: AnyEvent) => string;
}

function admitControlEvent(event: AnyEvent, { admission, checksumOf }: Deciding): AdmissionResult {
  switch (admission.admitControl(event)) {
    case 'accepted':
      return { kind: 'accepted', event, checksum: checksumOf(event) };
    case 'unknownRun':
      return { kind: 'deadLetter', ...describeUnknownRun(event) };
    case 'retry':
      return RETRY;
  }
}

function admitEpisodeEvent(
  event: AnyEvent,
  { admission, checksumOf, offset }: Deciding & { readonly offset: number },
): AdmissionResult {
  const places = admission.findPlaces(event.runId, event.episodeId);
  if (places === undefined) return RETRY;
  const { kind, seq, episodeId } = event as AnyEvent & { readonly kind: EpisodeEventKind };
  const checksum = checksumOf(event);
  const placement = places.take(kind, seq, toFingerprint(checksum));
  places.lastOffset = offset;
  if (placement === 'placed') return { kind: 'accepted', event, checksum };
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
