import { episodeEventId, newControlEventId } from './ids.js';
import type { ControlEventKind, EpisodeEventKind, RetraceEvent } from '../events/event.js';
import { SCHEMA_VERSIONS } from '../events/event-kinds.js';

/** Creates an episode event: the given fields, its deterministic id and the current schema version. */
export function newEpisodeEvent<K extends EpisodeEventKind>(
  fields: Omit<RetraceEvent<K>, 'eventId' | 'schemaVersion'>,
): RetraceEvent<K> {
  const { kind, logId, runId, episodeId, seq, occurredAtUs, payload } = fields;
  const eventId = episodeEventId(fields);
  const schemaVersion = SCHEMA_VERSIONS[kind];
  return { eventId, kind, schemaVersion, logId, runId, episodeId, seq, occurredAtUs, payload };
}

/** The fields from which a control event is made; `runId` is `''` for events that belong to no run. */
type ControlEventFields<K extends ControlEventKind> = Pick<
  RetraceEvent<K>,
  'kind' | 'logId' | 'runId' | 'occurredAtUs' | 'payload'
> & {
  /** Default: a new id. Keep the event, and with it the id, through retries. */
  readonly eventId?: string;
};

/** Creates a control event: the given fields, an id and the current schema version. */
export function newControlEvent<K extends ControlEventKind>(fields: ControlEventFields<K>): RetraceEvent<K> {
  const { kind, logId, runId, occurredAtUs, payload, eventId = newControlEventId() } = fields;
  const schemaVersion = SCHEMA_VERSIONS[kind];
  return { eventId, kind, schemaVersion, logId, runId, episodeId: '', seq: 0, occurredAtUs, payload };
}
