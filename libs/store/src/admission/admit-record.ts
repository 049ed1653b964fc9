import type { LogRecord } from '@retrace/log';
import { type AnyEvent, type EpisodeEventKind, fingerprintOf, isEpisodeEventKind } from '@retrace/trajectory';
import { type DeadLetterCode, decodeEvent, peekEnvelope } from '@retrace/trajectory/codec';
import { eventRow, type EventRow } from '../rows/event-rows.js';
import {
  type AdmissionCode,
  type AdmissionFault,
  describePlaceFault,
  unknownRun,
} from './admission-fault.js';
import type { Admission } from './admission.js';

export interface RecordFault {
  readonly code: DeadLetterCode | AdmissionCode;
  readonly reason: string;
}

/** What a record is: the row of an event, or a dead letter. */
export type Judgement =
  | { readonly ok: true; readonly event: AnyEvent; readonly row: Extract<EventRow, { event: AnyEvent }> }
  | ({ readonly ok: false } & RecordFault);

/** Judges the next record in log order; null, and nothing has changed, where `admission` has to learn about it first. */
export function judgeRecord(record: LogRecord, admission: Admission): Judgement | null {
  const tooLarge = findTooLarge(record, admission);
  if (tooLarge !== null) return { ok: false, ...tooLarge };
  const decoded = decodeEvent(record.bytes);
  if (!decoded.ok) return decoded;
  const { event } = decoded;
  const row = eventRow(record.offset, event) as Extract<EventRow, { event: AnyEvent }>;
  if (!isEpisodeEventKind(event.kind)) {
    const admitted = admission.admitControl(event);
    if (admitted === 'unknown') return null;
    return admitted === 'yes' ? { ok: true, event, row } : { ok: false, ...unknownRun(event) };
  }
  const episode = admission.episodeOf(event.runId, event.episodeId);
  if (episode === null) return null;
  const { kind, seq, episodeId } = event as AnyEvent & { readonly kind: EpisodeEventKind };
  const fault = episode.take(kind, seq, fingerprintOf(row.checksum));
  episode.lastOffset = record.offset;
  if (fault === null) return { ok: true, event, row };
  return { ok: false, ...describePlaceFault(fault, { kind, seq, episodeId }, episode) };
}

/** Of an episode event that a collector would have refused for its size; what is no such event is judged otherwise. */
export function findTooLarge({ bytes }: LogRecord, { maxEventBytes }: Admission): AdmissionFault | null {
  if (bytes.length <= maxEventBytes) return null;
  const envelope = peekEnvelope(bytes);
  if (envelope === null || envelope.episodeId === '') return null;
  const { kind, episodeId, seq } = envelope;
  const what = `${kind} of episode ${episodeId}, seq ${seq}, has ${bytes.length} bytes`;
  return {
    code: 'TOO_LARGE',
    reason: `${what}; must have at most ${maxEventBytes} (RETRACE_MAX_EVENT_BYTES)`,
  };
}
