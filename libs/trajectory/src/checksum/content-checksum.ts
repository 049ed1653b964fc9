import { ContentBytes } from './content-bytes.js';
import type { AnyEvent, EventKind } from '../events/event.js';
import { payloadFields } from '../validation/validate-event.js';

/** Measured, not chosen: a step recorded again after a retry differs in these and is still the same step. */
const VOLATILE_FIELDS: ReadonlySet<string> = new Set(['generationMs', 'environmentMs']);

export const CHECKSUM_BYTES = 16;

/**
 * Identity of a valid event's content, in 32 hex digits: SHA-256, cut to 128 bits, over kind, run, episode, seq and payload.
 *
 * Left out are `occurredAtUs`, the latencies (`generationMs`, `environmentMs`) and where the event lies (`logId`). Fields and
 * keys count in sorted order and arrays by their bytes, so neither the producer nor the wire format matters; fields that are
 * null don't count, so a schema version that adds a nullable field leaves the checksums of earlier events as they are.
 * Two events with one (run, episode, kind, seq) and unlike checksums are a conflict.
 */
export function contentChecksum({ kind, runId, episodeId, seq, payload }: AnyEvent): string {
  content.clear();
  content.text(kind);
  content.text(runId);
  content.text(episodeId);
  content.number(seq);
  const fields = payload as unknown as Readonly<Record<string, unknown>>;
  for (const { name, nameBytes } of stableFields(kind)) {
    const value = fields[name];
    if (value === null) continue;
    content.append(nameBytes);
    content.value(value);
  }
  return content.digest().toString('hex', 0, CHECKSUM_BYTES);
}

export interface StableField {
  readonly name: string;
  /** The name as `ContentBytes` has it. */
  readonly nameBytes: Uint8Array;
}

const stableFieldsByKind = new Map<EventKind, readonly StableField[]>();

/** The fields of a payload that count, in the order in which they do. */
export function stableFields(kind: EventKind): readonly StableField[] {
  let fields = stableFieldsByKind.get(kind);
  if (!fields) {
    fields = payloadFields(kind)
      .filter((name) => !VOLATILE_FIELDS.has(name))
      .sort()
      .map((name) => ({ name, nameBytes: bytesOf(name) }));
    stableFieldsByKind.set(kind, fields);
  }
  return fields;
}

function bytesOf(name: string): Uint8Array {
  const bytes = new ContentBytes();
  bytes.text(name);
  return Uint8Array.from(bytes.written());
}

/** One for all, emptied before each use: a checksum is taken without an allocation. */
const content = new ContentBytes();
