import type { AnyEvent, EpisodeEventKind, EpisodePlaces, PlaceFault } from '@retrace/trajectory';

/**
 * Why a record that is a valid event by itself is a dead letter. `CONFLICT`: its place in the episode is taken by other content.
 * `AFTER_END`: a step behind the episode's end. `UNKNOWN_RUN`: a control event of a run that has not started. `TOO_LARGE`: above the
 * limit of an event.
 */
export type AdmissionCode = 'CONFLICT' | 'AFTER_END' | 'UNKNOWN_RUN' | 'TOO_LARGE';

export interface AdmissionFault {
  readonly code: AdmissionCode;
  /** One sentence for people: field, value and rule. */
  readonly reason: string;
}

/** What of an event such a sentence names. */
export interface PlacedEvent {
  readonly kind: EpisodeEventKind;
  readonly episodeId: string;
  readonly seq: number;
}

export function describePlaceFault(
  fault: PlaceFault,
  { kind, episodeId, seq }: PlacedEvent,
  episode: EpisodePlaces,
): AdmissionFault {
  const { numSteps, highestStep } = episode;
  switch (fault) {
    case 'taken': {
      const rule = 'must have the content of the first record there, which is another';
      return { code: 'CONFLICT', reason: `${kind}.seq is ${seq} of episode ${episodeId}; ${rule}` };
    }
    case 'afterEnd': {
      const rule = `must be below ${numSteps}, the number of steps that episode ${episodeId} ended with`;
      return { code: 'AFTER_END', reason: `${kind}.payload.step is ${seq - 1}; ${rule}` };
    }
    case 'endedBefore': {
      const rule = `must be ${numSteps}, with which episode ${episodeId} ended before`;
      return { code: 'CONFLICT', reason: `${kind}.payload.numSteps is ${seq - 1}; ${rule}` };
    }
    case 'tooEarlyEnd': {
      const rule = `must be above ${highestStep}, a step that episode ${episodeId} has`;
      return { code: 'CONFLICT', reason: `${kind}.payload.numSteps is ${seq - 1}; ${rule}` };
    }
  }
}

export function unknownRun({ kind, runId }: AnyEvent): AdmissionFault {
  const rule = 'must be a run that has started: no RunStarted of it comes before in stream control';
  return { code: 'UNKNOWN_RUN', reason: `${kind}.runId is ${runId}; ${rule}` };
}
