import type { EventKind } from '../events/event.js';
import { addedAfter } from '../events/event-fields.js';
import { SCHEMA_VERSIONS } from '../events/event-kinds.js';
import { findUntrainableReason, type TrainableFields } from '../validation/untrainable.js';

type Payload = Readonly<Record<string, unknown>>;

/** Asks `findUntrainableReason`; `''` for a payload that the validation will refuse. */
function untrainableReason(payload: Payload): string {
  const { actionMask, tokenLogprobs, sampling } = payload;
  const isWhole =
    actionMask instanceof Uint8Array && tokenLogprobs instanceof Float32Array && typeof sampling === 'object';
  return isWhole ? findUntrainableReason(payload as unknown as TrainableFields) : '';
}

/**
 * Lifts a payload from `version` to the current version of its kind: it gets the fields that were added since. The payload is not validated yet, so any
 * field may be missing.
 *
 * Version 2 of a step says why the step is untrainable. Version 3 has the fields of version 2; its records lack texts that follow from the messages,
 * see `withTexts`.
 */
export function upcast(kind: EventKind, version: number, payload: Payload): Payload {
  if (version === SCHEMA_VERSIONS[kind]) return payload;
  const lifted = { ...payload, ...addedAfter(kind, version) };
  return kind === 'StepRecorded' && version === 1
    ? { ...lifted, untrainable: untrainableReason(payload) }
    : lifted;
}
