import { uuidFromBytes } from '../ids/uuid.js';
import { BodyReader } from './body/body-reader.js';
import { unframe } from './frame.js';

/** What a record says about itself before its payload. Nothing of it is validated: kind and version may be unknown here. */
export interface PeekedEnvelope {
  readonly kind: string;
  readonly schemaVersion: number;
  readonly eventId: string;
  readonly logId: string;
  readonly runId: string;
  readonly episodeId: string;
  readonly seq: number;
  readonly occurredAtUs: number;
}

/** In the body of a record: the envelope's eight, and the payload. */
export const NUM_BODY_PARTS = 9;

/** One for all: nothing waits between the first part and the last. */
const reader = new BodyReader();

/**
 * The envelope of a record, read without its payload: whose it is, also where this code can't decode it. Null where the
 * record is damaged or has no envelope of ours. Never throws.
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
