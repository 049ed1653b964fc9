import { episodeEventId, newControlEventId } from '../ids/ids.js';
import { SCHEMA_VERSIONS } from './event-kinds.js';
import type { ControlEventKind, EpisodeEventKind, PayloadOf, RetraceEvent } from './event.js';

export interface EpisodeEventFields<K extends EpisodeEventKind> {
  readonly kind: K;
  readonly logId: string;
  readonly runId: string;
  readonly episodeId: string;
  readonly seq: number;
  readonly occurredAtUs: number;
  readonly payload: PayloadOf<K>;
}

/** An episode event with the envelope filled in: its deterministic id and the current schema version. */
export function newEpisodeEvent<K extends EpisodeEventKind>(fields: EpisodeEventFields<K>): RetraceEvent<K> {
  const { kind, logId, runId, episodeId, seq, occurredAtUs, payload } = fields;
  const eventId = episodeEventId(fields);
  const schemaVersion = SCHEMA_VERSIONS[kind];
  return { eventId, kind, schemaVersion, logId, runId, episodeId, seq, occurredAtUs, payload };
}

export interface ControlEventFields<K extends ControlEventKind> {
  readonly kind: K;
  readonly logId: string;
  /** `''` for events that belong to no run. */
  readonly runId: string;
  readonly occurredAtUs: number;
  readonly payload: PayloadOf<K>;
  /** Default: a new one. Keep the event, and with it the id, through retries. */
  readonly eventId?: string;
}

/** A control event with the envelope filled in. */
export function newControlEvent<K extends ControlEventKind>(fields: ControlEventFields<K>): RetraceEvent<K> {
  const { kind, logId, runId, occurredAtUs, payload, eventId = newControlEventId() } = fields;
  const schemaVersion = SCHEMA_VERSIONS[kind];
  return { eventId, kind, schemaVersion, logId, runId, episodeId: '', seq: 0, occurredAtUs, payload };
}
