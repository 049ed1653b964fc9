import type { AnyEvent } from '../events/event.js';
import { assertValidEvent } from '../validation/validate-event.js';
import { BodyWriter } from './body/body-writer.js';
import { isColumn } from './body/packed-column.js';
import { NUM_BODY_PARTS } from './frame.js';
import { withoutTexts } from './message-texts.js';

/** Used synchronously, so one writer is shared. */
const body = new BodyWriter();

/**
 * Encodes an event as one record of a log.
 *
 * Body: a MessagePack array of kind, schema version, the four ids (16 bytes each; empty for `''`), seq, time and the
 * payload, a map from field name to value in which typed arrays are packed columns (`packed-column.ts`), and texts of a step that follow
 * from its messages are null (`message-texts.ts`).
 *
 * @throws TrajectoryError `INVALID_EVENT` naming the field, the value and the rule
 */
export function encodeEvent(event: AnyEvent): Uint8Array {
  assertValidEvent(event);
  body.reset();
  body.list(NUM_BODY_PARTS);
  body.name(event.kind);
  body.number(event.schemaVersion);
  body.uuid(event.eventId);
  body.uuid(event.logId);
  body.uuid(event.runId);
  body.uuid(event.episodeId);
  body.number(event.seq);
  body.number(event.occurredAtUs);
  const payload = withoutTexts(event);
  body.map(countFields(payload));
  // A valid payload is a plain object; `for … in` allocates no list of its fields.
  for (const field in payload) {
    const value = payload[field];
    body.name(field);
    if (isColumn(value)) body.column(value);
    else body.value(value);
  }
  return body.takeRecord();
}

function countFields(payload: Readonly<Record<string, unknown>>): number {
  let numFields = 0;
  for (const _ in payload) numFields += 1;
  return numFields;
}
