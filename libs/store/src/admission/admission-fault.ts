import type { LogRecord } from '@retrace/log';
import type { AnyEvent, EpisodeEventKind, EpisodePlaces, PlaceFault } from '@retrace/trajectory';
import { peekEnvelope } from '@retrace/trajectory/codec';

/**
 * Why a record that is a valid event by itself is a dead letter. `CONFLICT`: its place in the episode is taken by other content.
 * `AFTER_END`: a step behind the episode's end. `UNKNOWN_RUN`: a control event of a run that has not started. `TOO_LARGE`: longer
 * than the limit of an event.
 */
export type AdmissionCode = 'CONFLICT' | 'AFTER_END' | 'UNKNOWN_RUN' | 'TOO_LARGE';

export interface AdmissionFault {
  readonly code: AdmissionCode;
  /** One sentence for people: field, value and rule. */
  readonly reason: string;
}

/** The fields of an event that such a sentence names. */
export interface PlacedEvent {
  readonly kind: EpisodeEventKind;
  readonly episodeId: string;
  readonly seq: number;
}

export function describePlaceFault(
  fault: PlaceFault,
  { kind, episodeId, seq }: PlacedEvent,
  { numSteps, highestStep }: EpisodePlaces,
): AdmissionFault {
  switch (fault) {
    case 'taken': {
      const rule = 'an earlier record with other content has that place';
      return { code: 'CONFLICT', reason: `${kind}.seq is ${seq} of episode ${episodeId}; ${rule}` };
    }
    case 'afterEnd': {
      const rule = `must be below ${numSteps}, the number of steps that episode ${episodeId} ended with`;
      return { code: 'AFTER_END', reason: `${kind}.payload.step is ${seq - 1}; ${rule}` };
    }
    case 'endedBefore': {
      const rule = `must be ${numSteps}, the number of steps that episode ${episodeId} already ended with`;
      return { code: 'CONFLICT', reason: `${kind}.payload.numSteps is ${seq - 1}; ${rule}` };
    }
    case 'tooEarlyEnd': {
      const rule = `must be above ${highestStep}, the highest step of episode ${episodeId}`;
      return { code: 'CONFLICT', reason: `${kind}.payload.numSteps is ${seq - 1}; ${rule}` };
    }
  }
}

export function describeUnknownRun({ kind, runId }: AnyEvent): AdmissionFault {
  const rule = 'must be a run that has started: stream control has no RunStarted of it before';
  return { code: 'UNKNOWN_RUN', reason: `${kind}.runId is ${runId}; ${rule}` };
}

/**
 * The fault of an episode event that is longer than collectors may send; undefined for any other record, also a long one that holds no
 * episode event.
 */
export function findTooLarge(
  { bytes }: LogRecord,
  { maxEventBytes }: { readonly maxEventBytes: number },
): AdmissionFault | undefined {
  if (bytes.length <= maxEventBytes) return undefined;
  const envelope = peekEnvelope(bytes);
  if (envelope === null || envelope.episodeId === '') return undefined;
  const { kind, episodeId, seq } = envelope;
  const what = `${kind} of episode ${episodeId}, seq ${seq}, has ${bytes.length} bytes`;
  return {
    code: 'TOO_LARGE',
    reason: `${what}; must have at most ${maxEventBytes} (RETRACE_MAX_EVENT_BYTES)`,
  };
}
