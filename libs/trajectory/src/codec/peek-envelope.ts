import type { Envelope } from '../events/event.js';
import { uuidFromBytes } from '../fields/uuid.js';
import { BodyReader } from './body/body-reader.js';
import { NUM_BODY_PARTS, unframe } from './frame.js';

/** The envelope of a record before validation: the kind and the schema version may be unknown to this code. */
export type PeekedEnvelope = Omit<Envelope, 'kind'> & { readonly kind: string };

/** Used synchronously, so one reader is shared. */
const reader = new BodyReader();

/**
 * Reads the envelope of a record without its payload, so it also works for records that this code can't decode. Returns null for a
 * record that is damaged or has no such envelope. Never throws.
 */
export function peekEnvelope(bytes: Uint8Array): PeekedEnvelope | null {
  const unframed = unframe(bytes);
  if (!unframed.ok) return null;
  reader.reset(unframed.body);
  if (reader.list() !== NUM_BODY_PARTS) return null;
  const kind = readText();
  const schemaVersion = reader.number();
  const eventId = readUuid();
  const logId = readUuid();
  const runId = readUuid();
  const episodeId = readUuid();
  const seq = reader.number();
  const occurredAtUs = reader.number();
  if (reader.hasFailed || schemaVersion < 0 || seq < 0 || occurredAtUs < 0) return null;
  return { kind, schemaVersion, eventId, logId, runId, episodeId, seq, occurredAtUs };
}

function readText(): string {
  reader.text();
  return reader.hasFailed ? '' : reader.body.toString('utf8', reader.start, reader.end);
}

function readUuid(): string {
  reader.uuid();
  const { body, start, end, hasFailed } = reader;
  return hasFailed || start === end ? '' : uuidFromBytes(body.subarray(start, end));
}
