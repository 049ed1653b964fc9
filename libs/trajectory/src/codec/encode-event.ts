import type { AnyEvent } from '../events.js';
import { uuidToBytes } from '../uuid.js';
import { assertValidEvent } from '../validation/validate-event.js';
import { frame } from './frame.js';
import { messagePack } from './messagepack.js';
import { isColumn, packColumn } from './packed-column.js';

/**
 * The event as one record of a log.
 *
 * Body: a MessagePack array of kind, schema version, the four ids (16 bytes each; empty for `''`), seq, time and the
 * payload, a map from field name to value in which typed arrays are packed columns (`packed-column.ts`).
 *
 * @throws TrajectoryError `INVALID_EVENT` naming the field, the value and the rule
 */
export function encodeEvent(event: AnyEvent): Uint8Array {
  assertValidEvent(event);
  const { kind, schemaVersion, eventId, logId, runId, episodeId, seq, occurredAtUs, payload } = event;
  const packed: Record<string, unknown> = { ...payload };
  for (const field of Object.keys(packed)) {
    const value = packed[field];
    if (isColumn(value)) packed[field] = packColumn(value);
  }
  const ids = [eventId, logId, runId, episodeId].map(uuidToBytes);
  return frame(messagePack.pack([kind, schemaVersion, ...ids, seq, occurredAtUs, packed]));
}
