import { hash } from 'node:crypto';
import type { AnyEvent, EventKind } from './events.js';
import { payloadFields } from './validation/validate-event.js';

/** Measured, not chosen: a step recorded again after a retry differs in these and is still the same step. */
const VOLATILE_FIELDS: ReadonlySet<string> = new Set(['generationMs', 'environmentMs']);

const CHECKSUM_DIGITS = 32;

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
  for (const name of stableFields(kind)) {
    const value = fields[name];
    if (value === null) continue;
    content.text(name);
    content.value(value);
  }
  return hash('sha256', content.written(), 'hex').slice(0, CHECKSUM_DIGITS);
}

const stableFieldsByKind = new Map<EventKind, readonly string[]>();

function stableFields(kind: EventKind): readonly string[] {
  let names = stableFieldsByKind.get(kind);
  if (!names) {
    names = payloadFields(kind)
      .filter((name) => !VOLATILE_FIELDS.has(name))
      .sort();
    stableFieldsByKind.set(kind, names);
  }
  return names;
}

const Tag = { null: 0, false: 1, true: 2, number: 3, text: 4, list: 5, object: 6, array: 7 } as const;

/** Element type and width: columns that differ only in them differ. */
const ARRAY_CODES: Readonly<Record<string, number>> = {
  Uint8Array: 1,
  Int32Array: 2,
  Float32Array: 3,
  Float64Array: 4,
};

/** A UTF-16 unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
const HEADER_BYTES = 6;

/** Values one after the other, each with a tag and its length, so that no two contents give the same bytes. */
class ContentBytes {
  private bytes = Buffer.alloc(4096);
  private length = 0;

  clear(): void {
    this.length = 0;
  }

  written(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  text(text: string): void {
    this.reserve(HEADER_BYTES + MAX_BYTES_PER_UNIT * text.length);
    const from = this.length + 5;
    const numBytes = this.bytes.write(text, from, 'utf8');
    this.header(Tag.text, numBytes);
    this.length += numBytes;
  }

  number(value: number): void {
    this.reserve(9);
    this.bytes[this.length] = Tag.number;
    // Adding 0 makes −0 the 0 that a wire or a store may turn it into.
    this.length = this.bytes.writeDoubleLE(value + 0, this.length + 1);
  }

  value(value: unknown): void {
    if (typeof value === 'string') this.text(value);
    else if (typeof value === 'number') this.number(value);
    else if (value === null) this.tag(Tag.null);
    else if (typeof value === 'boolean') this.tag(value ? Tag.true : Tag.false);
    else if (ArrayBuffer.isView(value)) this.array(value);
    else if (Array.isArray(value)) {
      this.header(Tag.list, value.length);
      for (const item of value) this.value(item);
    } else if (typeof value === 'object') this.object(value as Readonly<Record<string, unknown>>);
    else throw new TypeError(`a valid event holds no ${typeof value}`);
  }

  private object(object: Readonly<Record<string, unknown>>): void {
    const keys = Object.keys(object).sort();
    this.header(Tag.object, keys.length);
    for (const key of keys) {
      this.text(key);
      this.value(object[key]);
    }
  }

  private array(array: ArrayBufferView): void {
    this.header(Tag.array, array.byteLength);
    this.reserve(1 + array.byteLength);
    this.bytes[this.length++] = ARRAY_CODES[array.constructor.name];
    this.bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), this.length);
    this.length += array.byteLength;
  }

  private header(tag: number, size: number): void {
    this.tag(tag);
    this.length = this.bytes.writeUInt32LE(size, this.length);
  }

  private tag(tag: number): void {
    this.reserve(HEADER_BYTES);
    this.bytes[this.length++] = tag;
  }

  private reserve(numBytes: number): void {
    if (this.length + numBytes <= this.bytes.length) return;
    const grown = Buffer.alloc(2 * (this.length + numBytes));
    grown.set(this.written());
    this.bytes = grown;
  }
}

/** One for all, emptied before each use: a checksum is taken without an allocation. */
const content = new ContentBytes();
