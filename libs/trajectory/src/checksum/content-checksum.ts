import { ContentBytes } from './content-bytes.js';
import { EVENT_FIELDS } from '../events/event-fields.js';
import type { EventField } from '../fields/field.js';
import type { AnyEvent, EventKind } from '../events/event.js';

export const CHECKSUM_BYTES = 16;

/**
 * Identifies the content of a valid event by 32 hex digits: SHA-256, cut to 128 bits, over kind, run, episode, seq and payload.
 *
 * `occurredAtUs`, the latencies (`generationMs`, `environmentMs`), `untrainable` and `logId` are left out. Fields and
 * keys are hashed in sorted order and arrays by their bytes, so neither the producer nor the wire format matters. Fields that are
 * null are skipped, and so are added fields that tell nothing new (`EventField.since`): a schema version that adds fields does not change the
 * checksums of earlier events.
 * Two events with the same (run, episode, kind, seq) and different checksums are a conflict.
 */
export function contentChecksum({ kind, runId, episodeId, seq, payload }: AnyEvent): string {
  content.clear();
  content.text(kind);
  content.text(runId);
  content.text(episodeId);
  content.number(seq);
  const fields = payload as unknown as Readonly<Record<string, unknown>>;
  for (const { name, nameBytes, field } of stableFields(kind)) {
    const value = fields[name];
    if (value === null || field.isAsBefore(value)) continue;
    content.append(nameBytes);
    content.value(value);
  }
  return content.digest().toString('hex', 0, CHECKSUM_BYTES);
}

export interface StableField {
  readonly name: string;
  /** The name in the encoding of `ContentBytes`. */
  readonly nameBytes: Uint8Array;
  readonly field: EventField<unknown>;
}

const stableFieldsByKind = new Map<EventKind, readonly StableField[]>();

/** Returns the fields of a payload that are hashed, in that order. */
export function stableFields(kind: EventKind): readonly StableField[] {
  let fields = stableFieldsByKind.get(kind);
  if (!fields) {
    fields = Object.entries<EventField<unknown>>(EVENT_FIELDS[kind])
      .filter(([, { isContent }]) => isContent)
      .map(([name, field]) => ({ name, nameBytes: encodeName(name), field }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    stableFieldsByKind.set(kind, fields);
  }
  return fields;
}

function encodeName(name: string): Uint8Array {
  const bytes = new ContentBytes();
  bytes.text(name);
  return Uint8Array.from(bytes.written());
}

/** Used synchronously, so one buffer is shared and a checksum needs no allocation. */
const content = new ContentBytes();
