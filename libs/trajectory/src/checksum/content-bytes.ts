import { hash } from 'node:crypto';
import { copyBytes } from './copy-bytes.js';

const Tag = { null: 0, false: 1, true: 2, number: 3, text: 4, list: 5, object: 6, array: 7 } as const;

/** Codes of element types, so that columns that differ only in type or width have different bytes. */
const ARRAY_CODES: Readonly<Record<string, number>> = {
  Uint8Array: 1,
  Int32Array: 2,
  Float32Array: 3,
  Float64Array: 4,
};

/** A UTF-16 unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
const HEADER_BYTES = 6;
/** Shorter texts are written character by character, which is faster than a call of `Buffer.write`. */
const SHORT_TEXT = 48;

/** Concatenates values, each with a tag and its length, so that no two contents give the same bytes. */
export class ContentBytes {
  private bytes = Buffer.alloc(4096);
  private length = 0;

  clear(): void {
    this.length = 0;
  }

  /** Returns a view of the bytes so far, valid until the next `clear`. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** Returns SHA-256 of the bytes so far, 32 bytes. */
  digest(): Buffer {
    return hash('sha256', this.written(), 'buffer');
  }

  text(text: string): void {
    this.reserve(HEADER_BYTES + MAX_BYTES_PER_UNIT * text.length);
    const from = this.length + 5;
    if (text.length < SHORT_TEXT && this.shortAscii(text, from)) return;
    const numBytes = this.bytes.write(text, from, 'utf8');
    this.header(Tag.text, numBytes);
    this.length += numBytes;
  }

  /** Returns false and writes nothing when a character is not ASCII. */
  private shortAscii(text: string, from: number): boolean {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return false;
      this.bytes[from + i] = unit;
    }
    this.header(Tag.text, text.length);
    this.length += text.length;
    return true;
  }

  /** Appends a text that is given as UTF-8, the bytes of `source` from `start` to `end`. */
  utf8(source: Uint8Array, start: number, end: number): void {
    this.header(Tag.text, end - start);
    this.reserve(end - start);
    copyBytes(source, start, end, this.bytes, this.length);
    this.length += end - start;
  }

  /** Appends the bytes that another `ContentBytes` returned from `written`. */
  append(written: Uint8Array): void {
    this.reserve(written.length);
    copyBytes(written, 0, written.length, this.bytes, this.length);
    this.length += written.length;
  }

  number(value: number): void {
    this.reserve(9);
    this.bytes[this.length] = Tag.number;
    // Adding 0 turns −0 into 0, as a wire or a store may do.
    this.length = this.bytes.writeDoubleLE(value + 0, this.length + 1);
  }

  flag(value: boolean): void {
    this.tag(value ? Tag.true : Tag.false);
  }

  value(value: unknown): void {
    if (typeof value === 'string') this.text(value);
    else if (typeof value === 'number') this.number(value);
    else if (value === null) this.tag(Tag.null);
    else if (typeof value === 'boolean') this.flag(value);
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
