import { isEventKind, SCHEMA_VERSIONS } from '../events/event-kinds.js';
import type { AnyEvent, Envelope } from '../events/event.js';
import { uuidFromBytes } from '../fields/uuid.js';
import { describeProblem } from '../fields/problem.js';
import { findEventProblem } from '../validation/validate-event.js';
import { withTexts } from './message-texts.js';
import { NUM_BODY_PARTS, unframe, type FrameFault } from './frame.js';
import { messagePack } from './body/messagepack.js';
import { unpackColumn } from './body/packed-column.js';
import { upcast } from './upcast.js';

const UUID_BYTES = 16;

/**
 * `NOT_AN_EVENT`: not a frame of Retrace. `CHECKSUM_MISMATCH`: damaged. `UNDECODABLE`: a frame without an event inside.
 * `UNKNOWN_VERSION` and `UNKNOWN_KIND`: written by newer code. `INVALID_EVENT`: breaks a rule of its kind.
 */
export type DeadLetterCode = FrameFault | 'UNDECODABLE' | 'UNKNOWN_KIND' | 'INVALID_EVENT';

export interface DeadLetter {
  readonly ok: false;
  readonly code: DeadLetterCode;
  /** One sentence for people. */
  readonly reason: string;
}

export type DecodedEvent = { readonly ok: true; readonly event: AnyEvent } | DeadLetter;

/**
 * Decodes the event in a record, lifts it to the current schema version and validates it; or returns a dead letter. Never throws.
 * The event owns its memory: nothing in it points into `bytes`.
 */
export function decodeEvent(bytes: Uint8Array): DecodedEvent {
  const unframed = unframe(bytes);
  if (!unframed.ok) return unframed;
  const body = readBody(unframed.body);
  if (typeof body === 'string') return deadLetter('UNDECODABLE', body);

  const { kind, schemaVersion } = body;
  if (!isEventKind(kind))
    return deadLetter('UNKNOWN_KIND', `event kind is ${textOf(kind)}; this reader does not know it`);
  const newest = SCHEMA_VERSIONS[kind];
  if (!Number.isInteger(schemaVersion) || schemaVersion < 1 || schemaVersion > newest) {
    const reason = `schema version of ${kind} is ${textOf(schemaVersion)}; this reader knows 1 to ${newest}`;
    return deadLetter('UNKNOWN_VERSION', reason);
  }
  const payload = withTexts(kind, upcast(kind, schemaVersion, body.payload));
  const event = { ...body, kind, schemaVersion: newest, payload } as unknown as AnyEvent;
  const problem = findEventProblem(event);
  return problem === null ? { ok: true, event } : deadLetter('INVALID_EVENT', describeProblem(problem));
}

/** Text of any value; for an object, which may have none, only that it is an object. */
const textOf = (value: unknown): string =>
  (typeof value === 'object' && value !== null) || typeof value === 'function' ? 'an object' : String(value);

/** Parts of a body, before validation. */
interface Body extends Omit<Envelope, 'kind'> {
  readonly kind: unknown;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Separates the parts of a body; returns a sentence when that fails. */
function readBody(bytes: Buffer): Body | string {
  try {
    const parts: unknown = messagePack.unpack(bytes);
    if (!Array.isArray(parts) || parts.length !== NUM_BODY_PARTS)
      return `body is no array of ${NUM_BODY_PARTS} parts`;
    const [kind, schemaVersion, eventId, logId, runId, episodeId, seq, occurredAtUs, packed] =
      parts as unknown[];
    if (packed === null || typeof packed !== 'object') return 'payload is no map';
    const payload = packed as Record<string, unknown>;
    for (const field of Object.keys(payload)) {
      const value = payload[field];
      if (value instanceof Uint8Array) payload[field] = unpackColumn(value);
    }
    return {
      eventId: unpackUuid(eventId),
      kind,
      schemaVersion: schemaVersion as number,
      logId: unpackUuid(logId),
      runId: unpackUuid(runId),
      episodeId: unpackUuid(episodeId),
      seq: seq as number,
      occurredAtUs: occurredAtUs as number,
      payload,
    };
  } catch (error) {
    return `body can't be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function unpackUuid(packed: unknown): string {
  if (!(packed instanceof Uint8Array)) throw new TypeError('an id is not binary');
  if (packed.length === 0) return '';
  if (packed.length !== UUID_BYTES)
    throw new TypeError(`an id has ${packed.length} bytes; must have ${UUID_BYTES} or none`);
  return uuidFromBytes(packed);
}

function deadLetter(code: DeadLetterCode, reason: string): DeadLetter {
  return { ok: false, code, reason };
}
