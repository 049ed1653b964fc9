import type { EventField, PayloadsOf } from '../fields/field.js';
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

/** The fields of every kind. A kind's type, rules, schema version, form in a record and row follow from here. */
export const EVENT_FIELDS = { ...EPISODE_EVENTS, ...CONTROL_EVENTS };

/** The fields that schema versions after `version` added to a kind, with their values in events of earlier versions; in the order of the versions. */
export function addedAfter(
  kind: keyof typeof EVENT_FIELDS,
  version: number,
): Readonly<Record<string, unknown>> {
  const later = Object.entries<EventField<unknown>>(EVENT_FIELDS[kind])
    .flatMap(([name, { added }]) => (added !== null && added.since > version ? [{ name, ...added }] : []))
    .sort((a, b) => a.since - b.since)
    .map(({ name, before }) => [name, before]);
  return Object.fromEntries(later) as Readonly<Record<string, unknown>>;
}
