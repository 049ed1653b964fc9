import type { EventKind } from '../events/event.js';

/** Turns a payload of one schema version into one of the next. The payload is not validated yet, so any field may be missing. */
export type Upcaster = (payload: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/** Upcasters by kind, from version 1 on: entry i lifts version i + 1 to i + 2. A kind that never changed has none. */
export type UpcasterTable = Readonly<Partial<Record<EventKind, readonly Upcaster[]>>>;

/** The changes of the event schema so far; `SCHEMA_VERSIONS` counts them. */
export const UPCASTERS: UpcasterTable = {
  UpdateApplied: [(payload) => ({ ...payload, episodeRewards: null })],
};

/** Lifts a payload from `version` to the current version of its kind. */
export function upcast(
  kind: EventKind,
  version: number,
  payload: Readonly<Record<string, unknown>>,
  table: UpcasterTable = UPCASTERS,
): Readonly<Record<string, unknown>> {
  const steps = table[kind]?.slice(version - 1) ?? [];
  return steps.reduce((lifted, step) => step(lifted), payload);
}
