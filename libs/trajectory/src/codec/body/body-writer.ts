import { crc32 } from 'node:zlib';
import { copyBytes } from '../../checksum/copy-bytes.js';
import { writeUuid } from '../../fields/uuid.js';
import { FRAME_HEADER_BYTES, writeFrameHeader } from '../frame.js';
import { messagePack } from './messagepack.js';
import { layOutColumn, writeColumn, type TypedColumn } from './packed-column.js';

const INITIAL_BYTES = 16 * 1024;
/** A larger buffer is released after its record, so that one large event does not hold memory for the life of the process. */
const MAX_KEPT_BYTES = 1024 * 1024;

const UUID_BYTES = 16;
/** A UTF-16 unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
const MAX_HEADER_BYTES = 5;
const NUMBER_BYTES = 9;

/** Shorter texts are written character by character, which is faster than a call of `Buffer.write`. */
const SHORT_TEXT = 32;

/**
 * Writes the body of a record in MessagePack, each value in its shortest form, directly behind the frame's header: the same
 * bytes as `messagePack.pack` gives (the tests compare them), without intermediate objects or buffers.
 */
export class BodyWriter {
  private bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private at = FRAME_HEADER_BYTES;
  private readonly names = new Map<string, Uint8Array>();

  /** Returns a framed copy of the body, and starts an empty one. */
  takeRecord(): Buffer {
    const { bytes, at } = this;
    const body = bytes.subarray(FRAME_HEADER_BYTES, at);
    const record = Buffer.allocUnsafe(at);
    writeFrameHeader(record, crc32(body));
    record.set(body, FRAME_HEADER_BYTES);
    this.reset();
    return record;
  }

  /** Starts an empty body. */
  reset(): void {
    this.at = FRAME_HEADER_BYTES;
    if (this.bytes.length > MAX_KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  }

  /** Starts a list; write its elements next. */
  list(length: number): void {
    this.header(length, 0x90, 0xdc);
  }

  /** Starts a map; write its keys and values next, in turn. */
  map(length: number): void {
    this.header(length, 0x80, 0xde);
  }

  /** Writes a UUID as 16 bytes, and `''` as none. */
  uuid(uuid: string): void {
    this.reserve(2 + UUID_BYTES);
    const size = uuid === '' ? 0 : UUID_BYTES;
    this.bytes[this.at++] = 0xc4;
    this.bytes[this.at++] = size;
    if (size > 0) writeUuid(this.bytes, this.at, uuid);
    this.at += size;
  }

  /** Writes a packed column as binary. */
  column(column: TypedColumn): void {
    const layout = layOutColumn(column);
    this.reserve(MAX_HEADER_BYTES + layout.packedBytes);
    this.sized(layout.packedBytes, 0xc4);
    this.at = writeColumn(this.bytes, this.at, column, layout);
  }

  value(value: unknown): void {
    if (typeof value === 'string') this.text(value);
    else if (typeof value === 'number') this.number(value);
    else if (value === null || typeof value === 'boolean') {
      this.reserve(1);
      this.bytes[this.at++] = value === null ? 0xc0 : value ? 0xc3 : 0xc2;
    } else if (Array.isArray(value)) {
      this.list(value.length);
      for (const element of value) this.value(element);
    } else if (isPlainObject(value)) {
      const keys = Object.keys(value);
      this.map(keys.length);
      for (const key of keys) {
        this.text(key);
        this.value(value[key]);
      }
    } else this.packed(messagePack.pack(value));
  }

  /** Writes a text of which there are few, such as the name of a field; remembers its bytes. */
  name(name: string): void {
    let encoded = this.names.get(name);
    if (encoded === undefined) {
      encoded = Uint8Array.from(messagePack.pack(name));
      this.names.set(name, encoded);
    }
    this.reserve(encoded.length);
    copyBytes(encoded, 0, encoded.length, this.bytes, this.at);
    this.at += encoded.length;
  }

  text(text: string): void {
    this.reserve(MAX_HEADER_BYTES + MAX_BYTES_PER_UNIT * text.length);
    if (text.length < SHORT_TEXT && this.shortAscii(text)) return;
    // The header's size depends on the encoded length: assume all ASCII, and move the bytes where that was wrong.
    const guess = textHeaderBytes(text.length);
    const numBytes = this.bytes.write(text, this.at + guess, 'utf8');
    const actual = textHeaderBytes(numBytes);
    if (actual > guess) this.bytes.copyWithin(this.at + actual, this.at + guess, this.at + guess + numBytes);
    if (numBytes < 0x20) this.bytes[this.at++] = 0xa0 | numBytes;
    else this.sized(numBytes, 0xd9);
    this.at += numBytes;
  }

  number(value: number): void {
    this.reserve(NUMBER_BYTES);
    const { bytes } = this;
    if (value >>> 0 === value) {
      if (value < 0x80) bytes[this.at++] = value;
      else this.sized(value, 0xcc);
    } else if (value >> 0 === value) {
      if (value >= -0x20) bytes[this.at++] = 0x100 + value;
      else if (value >= -0x80) {
        bytes[this.at] = 0xd0;
        this.at = bytes.writeInt8(value, this.at + 1);
      } else if (value >= -0x8000) {
        bytes[this.at] = 0xd1;
        this.at = bytes.writeInt16BE(value, this.at + 1);
      } else {
        bytes[this.at] = 0xd2;
        this.at = bytes.writeInt32BE(value, this.at + 1);
      }
    } else {
      bytes[this.at] = 0xcb;
      this.at = bytes.writeDoubleBE(value, this.at + 1);
    }
  }

  /** Returns false and writes nothing when a character is not ASCII. */
  private shortAscii(text: string): boolean {
    const { bytes } = this;
    const from = this.at + 1;
    for (let i = 0; i < text.length; i += 1) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return false;
      bytes[from + i] = unit;
    }
    bytes[this.at] = 0xa0 | text.length;
    this.at = from + text.length;
    return true;
  }

  private header(length: number, fixed: number, tag16: number): void {
    this.reserve(MAX_HEADER_BYTES);
    const { bytes } = this;
    if (length < 0x10) bytes[this.at++] = fixed | length;
    else if (length < 0x1_0000) {
      bytes[this.at] = tag16;
      this.at = bytes.writeUInt16BE(length, this.at + 1);
    } else {
      bytes[this.at] = tag16 + 1;
      this.at = bytes.writeUInt32BE(length, this.at + 1);
    }
  }

  /** Writes a tag for 8, 16 or 32 bits, which are consecutive, and the number in that many bits. */
  private sized(value: number, tag8: number): void {
    const { bytes } = this;
    if (value < 0x100) {
      bytes[this.at++] = tag8;
      bytes[this.at++] = value;
    } else if (value < 0x1_0000) {
      bytes[this.at] = tag8 + 1;
      this.at = bytes.writeUInt16BE(value, this.at + 1);
    } else {
      bytes[this.at] = tag8 + 2;
      this.at = bytes.writeUInt32BE(value, this.at + 1);
    }
  }

  private packed(packed: Uint8Array): void {
    this.reserve(packed.length);
    this.bytes.set(packed, this.at);
    this.at += packed.length;
  }

  private reserve(numBytes: number): void {
    if (this.at + numBytes <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(2 * (this.at + numBytes));
    this.bytes.copy(grown, 0, 0, this.at);
    this.bytes = grown;
  }
}

function textHeaderBytes(numBytes: number): number {
  if (numBytes < 0x20) return 1;
  if (numBytes < 0x100) return 2;
  return numBytes < 0x1_0000 ? 3 : 5;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
