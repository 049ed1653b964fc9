import { isUtf8 } from 'node:buffer';

const UUID_BYTES = 16;
const MAX_DEPTH = 100;
/** Shorter texts are checked byte by byte, which is faster than a call of `isUtf8`. */
const SHORT_TEXT = 48;

const NIL = 0xc0;
const FALSE = 0xc2;
const TRUE = 0xc3;

/**
 * Reads the body of a record in place, value by value, without creating objects: the counterpart of `BodyWriter`.
 *
 * It reads the MessagePack forms that implementations write for these values, and no others. At the first unexpected one it sets
 * `hasFailed` until the next `reset`; results from then on have no meaning.
 */
export class BodyReader {
  body: Buffer = Buffer.alloc(0);
  at = 0;
  hasFailed = false;
  /** Position in the body of the last text or binary value. */
  start = 0;
  end = 0;

  reset(body: Buffer): void {
    this.body = body;
    this.at = 0;
    this.hasFailed = false;
  }

  /** Whether everything was read without a failure. */
  get isWhole(): boolean {
    return !this.hasFailed && this.at === this.body.length;
  }

  /** Reads the number of elements that follow. */
  list(): number {
    return this.count(0x90, 0xdc);
  }

  /** Reads the number of pairs of key and value that follow. */
  map(): number {
    return this.count(0x80, 0xde);
  }

  /** Skips a null; false when the next value is another. */
  null(): boolean {
    if (this.body[this.at] !== NIL) return false;
    this.at++;
    return true;
  }

  flag(): boolean {
    const tag = this.body[this.at++];
    if (tag !== TRUE && tag !== FALSE) this.hasFailed = true;
    return tag === TRUE;
  }

  /** Sets `start` and `end` to a text's bytes, which are valid UTF-8. */
  text(): void {
    const tag = this.body[this.at++];
    if (tag >= 0xa0 && tag < 0xc0) this.take(tag - 0xa0);
    else this.takeSized(tag, 0xd9);
    if (!this.hasFailed && !this.isText(this.start, this.end)) this.hasFailed = true;
  }

  /** Sets `start` and `end` to the bytes of a binary value. */
  binary(): void {
    this.takeSized(this.body[this.at++], 0xc4);
  }

  /** Sets `start` and `end` to the 16 bytes of an id, or to an empty range. */
  uuid(): void {
    this.binary();
    const length = this.end - this.start;
    if (length !== 0 && length !== UUID_BYTES) this.hasFailed = true;
  }

  number(): number {
    const { body } = this;
    const tag = body[this.at++];
    if (tag < 0x80) return tag;
    if (tag >= 0xe0) return tag - 0x100;
    switch (tag) {
      case 0xca:
        return this.take(4) ? body.readFloatBE(this.start) : 0;
      case 0xcb:
        return this.take(8) ? body.readDoubleBE(this.start) : 0;
      case 0xcc:
        return this.take(1) ? body.readUInt8(this.start) : 0;
      case 0xcd:
        return this.take(2) ? body.readUInt16BE(this.start) : 0;
      case 0xce:
        return this.take(4) ? body.readUInt32BE(this.start) : 0;
      case 0xcf:
        return this.take(8) ? Number(body.readBigUInt64BE(this.start)) : 0;
      case 0xd0:
        return this.take(1) ? body.readInt8(this.start) : 0;
      case 0xd1:
        return this.take(2) ? body.readInt16BE(this.start) : 0;
      case 0xd2:
        return this.take(4) ? body.readInt32BE(this.start) : 0;
      default:
        this.hasFailed = true;
        return 0;
    }
  }

  /** Skips a value of any of these forms, including lists and maps. */
  skip(depth = 0): void {
    const tag = this.body[this.at];
    if (tag === undefined || depth > MAX_DEPTH) this.hasFailed = true;
    if (this.hasFailed) return;
    if (tag === NIL || tag === FALSE || tag === TRUE) this.at++;
    else if ((tag >= 0xa0 && tag < 0xc0) || (tag >= 0xd9 && tag <= 0xdb)) this.text();
    else if (tag >= 0xc4 && tag <= 0xc6) this.binary();
    else if ((tag >= 0x90 && tag < 0xa0) || tag === 0xdc || tag === 0xdd) this.skipMany(this.list(), depth);
    else if ((tag >= 0x80 && tag < 0x90) || tag === 0xde || tag === 0xdf)
      this.skipMany(2 * this.map(), depth);
    else this.number();
  }

  private skipMany(count: number, depth: number): void {
    for (let i = 0; i < count && !this.hasFailed; i++) this.skip(depth + 1);
  }

  private count(fixed: number, tag16: number): number {
    const tag = this.body[this.at++];
    if (tag >= fixed && tag < fixed + 0x10) return tag - fixed;
    if (tag === tag16 && this.take(2)) return this.body.readUInt16BE(this.start);
    if (tag === tag16 + 1 && this.take(4)) return this.body.readUInt32BE(this.start);
    this.hasFailed = true;
    return 0;
  }

  /** Reads a length of 8, 16 or 32 bits, depending on the tag, and takes that many bytes. */
  private takeSized(tag: number, tag8: number): void {
    const { body } = this;
    if (tag === tag8) {
      if (this.take(1)) this.take(body[this.start]);
    } else if (tag === tag8 + 1) {
      if (this.take(2)) this.take(body.readUInt16BE(this.start));
    } else if (tag === tag8 + 2) {
      if (this.take(4)) this.take(body.readUInt32BE(this.start));
    } else this.hasFailed = true;
  }

  private take(length: number): boolean {
    this.start = this.at;
    this.end = this.at + length;
    this.at = this.end;
    if (this.end <= this.body.length) return true;
    this.hasFailed = true;
    return false;
  }

  private isText(start: number, end: number): boolean {
    const { body } = this;
    if (end - start >= SHORT_TEXT) return isUtf8(body.subarray(start, end));
    for (let i = start; i < end; i++) if (body[i] > 0x7f) return isUtf8(body.subarray(start, end));
    return true;
  }
}
