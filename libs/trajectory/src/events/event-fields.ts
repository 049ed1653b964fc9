import type { EventFields, PayloadsOf } from '../fields/field.js';
import { COMMIT_EVENTS } from './commit-events.js';
import { RUN_EVENTS } from './control-events.js';
import { DATASET_EVENTS } from './dataset-events.js';
import { EPISODE_EVENTS } from './episode-events.js';
import { LINEAGE_EVENTS } from './lineage-events.js';
import { NOTEBOOK_EVENTS } from './notebook-events.js';
import { VALIDATION_EVENTS } from './validation-events.js';
import { WARNING_EVENTS } from './warning-events.js';

/** The fields of the events of stream `control` (one partition): runs, groups, batches, updates, policies, data sets and notebooks. */
export const CONTROL_EVENTS = {
  ...RUN_EVENTS,
  ...COMMIT_EVENTS,
  ...LINEAGE_EVENTS,
  ...VALIDATION_EVENTS,
  ...WARNING_EVENTS,
  ...DATASET_EVENTS,
  ...NOTEBOOK_EVENTS,
};

export type ControlPayloads = PayloadsOf<typeof CONTROL_EVENTS>;

/**
 * The fields of every kind. A kind's type, rules, schema version, form in a record and row follow from here. The order of fields that a row has as JSON
 * is the order in its text, which the hash of the row covers: never reorder them, and add new ones at the end.
 */
export const EVENT_FIELDS = { ...EPISODE_EVENTS, ...CONTROL_EVENTS };

type Additions = Readonly<Record<string, unknown>>;

/** Per kind, at v − 1, what the versions after v added; none after the last one. Frozen, as all lifted events share the values. */
const ADDED_AFTER = Object.fromEntries(
  Object.entries<EventFields>(EVENT_FIELDS).map(([kind, fields]) => [kind, listAdditions(fields)]),
) as Readonly<Record<keyof typeof EVENT_FIELDS, readonly Additions[]>>;

function listAdditions(fields: EventFields): readonly Additions[] {
  const added = Object.entries(fields)
    .flatMap(([name, field]) => (field.added === null ? [] : [{ name, ...field.added }]))
    .sort((a, b) => a.since - b.since);
  const newest = added.at(-1)?.since ?? 1;
  return Array.from({ length: newest - 1 }, (_, v) => {
    const later = added.filter(({ since }) => since > v + 1);
    return Object.freeze(Object.fromEntries(later.map(({ name, before }) => [name, Object.freeze(before)])));
  });
}

const NOTHING: Additions = Object.freeze({});

/** The fields that schema versions after `version` added to a kind, with their values in events of earlier versions; in the order of the versions. */
export function addedAfter(kind: keyof typeof EVENT_FIELDS, version: number): Additions {
  return ADDED_AFTER[kind][version - 1] ?? NOTHING;
}
