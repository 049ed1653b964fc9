import type { EventFields } from '../fields/field.js';
import { kindsMarked } from '../fields/kind-marks.js';
import { EPISODE_EVENTS } from './episode-events.js';
import { CONTROL_EVENTS, EVENT_FIELDS } from './event-fields.js';
import type { ControlEventKind, EpisodeEventKind, EventKind } from './event.js';

/** The schema version that this code writes, per kind: the last that added a field. Its upcast follows (`codec/upcast.ts`). */
export const SCHEMA_VERSIONS = Object.fromEntries(
  Object.entries<EventFields>(EVENT_FIELDS).map(([kind, fields]) => [
    kind,
    Math.max(...Object.values(fields).map(({ added }) => added?.since ?? 1)),
  ]),
) as Readonly<Record<EventKind, number>>;

/** Kinds by which people say something of a run, whenever that is: they are no activity of it. */
export const REMARK_KINDS: readonly ControlEventKind[] = kindsMarked(CONTROL_EVENTS, 'remark');

export const EVENT_KINDS = Object.keys(SCHEMA_VERSIONS) as readonly EventKind[];

export function isEventKind(kind: unknown): kind is EventKind {
  return typeof kind === 'string' && Object.hasOwn(SCHEMA_VERSIONS, kind);
}

export function isEpisodeEventKind(kind: EventKind): kind is EpisodeEventKind {
  return Object.hasOwn(EPISODE_EVENTS, kind);
}
