import { EVENT_KINDS, isEpisodeEventKind } from '../events/event-kinds.js';
import type {
  AnyEvent,
  ControlEventKind,
  EpisodeEventKind,
  PayloadOf,
  RetraceEvent,
} from '../events/event.js';
import { newControlEvent } from '../ids/new-event.js';
import { episodeEvent } from './episode-events.js';
import { SAMPLE_IDS, SAMPLE_PAYLOADS } from './sample-payloads.js';

const SEQS: Readonly<Record<EpisodeEventKind, number>> = Object.freeze({
  EpisodeStarted: 0,
  StepRecorded: 1,
  EpisodeEnded: 2,
  RewardAssigned: 0,
  EpisodeAnnotated: 0,
});

/** An episode event with fixed ids and time, and the sample's payload but for the fields given: golden files are made of it. */
export function sampleEpisodeEvent<K extends EpisodeEventKind>(
  kind: K,
  payload: Partial<PayloadOf<K>> = {},
  seq = SEQS[kind],
): RetraceEvent<K> {
  return episodeEvent(SAMPLE_IDS, kind, seq, payload);
}

/** A control event with fixed ids and time, and the sample's payload but for the fields given. */
export function sampleControlEvent<K extends ControlEventKind>(
  kind: K,
  payload: Partial<PayloadOf<K>> = {},
): RetraceEvent<K> {
  const { logId, runId, occurredAtUs, controlEventId: eventId } = SAMPLE_IDS;
  return newControlEvent<K>({
    ...{ logId, occurredAtUs, eventId, kind },
    runId: kind === 'LogOpened' ? '' : runId,
    payload: { ...SAMPLE_PAYLOADS[kind], ...payload } as PayloadOf<K>,
  });
}

/** One sample event of every kind. */
export function sampleEvents(): AnyEvent[] {
  return EVENT_KINDS.map((kind) =>
    isEpisodeEventKind(kind) ? sampleEpisodeEvent(kind) : sampleControlEvent(kind),
  ) as AnyEvent[];
}
