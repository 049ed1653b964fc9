import { ADDED_FIELDS } from '../events/added-fields.js';
import type { EventKind } from '../events/event.js';
import { findUntrainableReason, type TrainableFields } from '../validation/untrainable.js';

/** Turns a payload of one schema version into one of the next. The payload is not validated yet, so any field may be missing. */
export type Upcaster = (payload: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/** Upcasters by kind, from version 1 on: entry i lifts version i + 1 to i + 2. A kind that never changed has none. */
export type UpcasterTable = Readonly<Partial<Record<EventKind, readonly Upcaster[]>>>;

/** The changes of the event schema so far; `SCHEMA_VERSIONS` counts them. */
export const UPCASTERS: UpcasterTable = {
  BatchPlanned: [(payload) => ({ ...payload, ...ADDED_FIELDS.BatchPlanned })],
  UpdateApplied: [
    (payload) => ({ ...payload, ...ADDED_FIELDS.UpdateApplied }),
    (payload) => ({ ...payload, groupPriorities: ADDED_FIELDS.UpdateApplied.groupPriorities }),
    (payload) => ({ ...payload, engine: ADDED_FIELDS.UpdateApplied.engine }),
  ],
  UpdateTraced: [(payload) => ({ ...payload, ...ADDED_FIELDS.UpdateTraced })],
  UpdateTokensTraced: [(payload) => ({ ...payload, ...ADDED_FIELDS.UpdateTokensTraced })],
  PolicyPublished: [(payload) => ({ ...payload, ...ADDED_FIELDS.PolicyPublished })],
  WarningRaised: [(payload) => ({ ...payload, ...ADDED_FIELDS.WarningRaised })],
  RunStarted: [(payload) => ({ ...payload, ...ADDED_FIELDS.RunStarted })],
  EpisodeStarted: [
    (payload) => ({ ...payload, ...ADDED_FIELDS.EpisodeStarted }),
    (payload) => ({ ...payload, forkedFromRunId: ADDED_FIELDS.EpisodeStarted.forkedFromRunId }),
  ],
  StepRecorded: [
    (payload) => ({ ...payload, ...ADDED_FIELDS.StepRecorded, untrainable: untrainableReason(payload) }),
    // Version 3 has the same fields; its records lack texts that follow from the messages, see `withTexts`.
    (payload) => ({ ...payload }),
    (payload) => ({ ...payload, tokenRoutedExperts: ADDED_FIELDS.StepRecorded.tokenRoutedExperts }),
  ],
};

/** Asks `findUntrainableReason`; `''` for a payload that the validation will refuse. */
function untrainableReason(payload: Readonly<Record<string, unknown>>): string {
  const { actionMask, tokenLogprobs, sampling } = payload;
  const isWhole =
    actionMask instanceof Uint8Array && tokenLogprobs instanceof Float32Array && typeof sampling === 'object';
  return isWhole ? findUntrainableReason(payload as unknown as TrainableFields) : '';
}

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
