import { parseRow, withoutMark } from './parse-row.js';
import { MAX_ROW_BYTES, MAX_ROW_DEPTH, type BrokenRowCode, type RowRead } from './row.js';
import { JsonScanner } from './json-scanner.js';

const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
/** Most white space between the brace of a row and its first key. */
const MARKER_SPACE_BYTES = 64;

/**
 * Reads the elements of one JSON list, or JSON values one after the other, as rows: each is parsed by itself as soon as it is whole.
 *
 * A SAX parser ends at the first fault; this one goes on. A fault is noticed at the first byte that no JSON can have there, and reading
 * resumes where the next row begins: at a brace followed by the first key of the rows before, which inside a text would be escaped.
 */
export class ElementRows {
  private buffer: Buffer = Buffer.alloc(0);
  private readonly scanner = new JsonScanner(MAX_ROW_DEPTH);
  /** Where the scanner is in `buffer`. */
  private position = 0;
  private number = 0;
  private state: 'file-start' | 'between' | 'inside' | 'seeking' = 'file-start';
  /** First key of the rows, with its quotes. */
  private firstKey: Buffer | null = null;
  private isInGarbage = false;

  constructor(private readonly maxRowBytes = MAX_ROW_BYTES) {}

  /** Takes the next bytes of the file and returns the rows that end in them. */
  push(chunk: Buffer): RowRead[] {
    this.buffer = this.buffer.length === 0 ? chunk : Buffer.concat([this.buffer, chunk]);
    const rows: RowRead[] = [];
    while (this.advance(rows));
    return rows;
  }

  /** Returns the rows that the end of the file ends. */
  end(): RowRead[] {
    const rows: RowRead[] = [];
    while (this.state === 'inside') {
      this.firstKey ??= findFirstKey(this.buffer);
      const fault = 'the file ends inside this row';
      const resumed = this.breakOff(rows, this.nextRowAfter(1) === -1 ? 'CUT' : 'NOT_JSON', fault);
      if (!resumed) break;
      while (this.advance(rows));
    }
    this.buffer = Buffer.alloc(0);
    return rows;
  }

  /** Does one thing; false when more bytes are needed. */
  private advance(rows: RowRead[]): boolean {
    switch (this.state) {
      case 'file-start':
        return this.passFileStart();
      case 'between':
        return this.findNextRow(rows);
      case 'inside':
        return this.readRow(rows);
      case 'seeking':
        return this.seekNextRow();
    }
  }

  private passFileStart(): boolean {
    let at = this.buffer.length - withoutMark(this.buffer).length;
    while (at < this.buffer.length && this.buffer[at] <= 0x20) at++;
    if (at === this.buffer.length) return false;
    this.drop(this.buffer[at] === OPEN_LIST ? at + 1 : at);
    this.state = 'between';
    return true;
  }

  /** Passes over white space, commas and the brackets around all rows. */
  private findNextRow(rows: RowRead[]): boolean {
    let at = 0;
    for (; at < this.buffer.length; at++) {
      const byte = this.buffer[at];
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) break;
      if (byte <= 0x20 || byte === 0x2c || byte === 0x5d) continue;
      if (!this.isInGarbage) {
        this.isInGarbage = true;
        rows.push({ number: ++this.number, code: 'NOT_JSON', detail: 'text that belongs to no row' });
      }
    }
    this.drop(at);
    if (this.buffer.length === 0) return false;
    this.isInGarbage = false;
    this.number++;
    this.scanner.reset();
    this.position = 0;
    this.state = 'inside';
    return true;
  }

  private readRow(rows: RowRead[]): boolean {
    const result = this.scanner.scan(this.buffer, this.position);
    this.position = result.position;
    if (result.kind === 'more') {
      if (this.buffer.length <= this.maxRowBytes) return false;
      return this.breakOff(rows, 'TOO_LARGE', `longer than ${this.maxRowBytes} bytes`);
    }
    if (result.kind === 'fault') {
      return this.breakOff(rows, result.code, result.detail);
    }
    const bytes = this.buffer.subarray(0, result.position);
    this.firstKey ??= findFirstKey(bytes);
    const row = parseRow(bytes, this.number);
    if ('code' in row) return this.breakOff(rows, row.code, row.detail);
    rows.push(row);
    this.drop(result.position);
    this.state = 'between';
    return true;
  }

  /** Gives up the current row and goes to where the next one begins. */
  private breakOff(rows: RowRead[], code: BrokenRowCode, detail: string) {
    rows.push({ number: this.number, code, detail });
    this.firstKey ??= findFirstKey(this.buffer);
    this.drop(1);
    this.state = 'seeking';
    return this.seekNextRow();
  }

  private seekNextRow(): boolean {
    const next = this.nextRowAfter(0);
    if (next === -1) {
      // The marker may be cut by the end of these bytes.
      const tail = (this.firstKey?.length ?? 0) + MARKER_SPACE_BYTES;
      if (this.buffer.length > tail) this.drop(this.buffer.length - tail);
      return false;
    }
    this.drop(next);
    this.state = 'between';
    return true;
  }

  /** Place of the next brace that is followed by the rows' first key; −1 when there is none in the buffer. */
  private nextRowAfter(start: number): number {
    const key = this.firstKey;
    if (key === null) return this.buffer.indexOf(OPEN_OBJECT, start);
    for (let found = this.buffer.indexOf(key, start); found !== -1;) {
      let at = found - 1;
      while (at >= start && found - at < MARKER_SPACE_BYTES && this.buffer[at] <= 0x20) at--;
      if (at >= start && this.buffer[at] === OPEN_OBJECT) return at;
      found = this.buffer.indexOf(key, found + 1);
    }
    return -1;
  }

  private drop(numBytes: number): void {
    this.buffer = this.buffer.subarray(numBytes);
  }
}

/** The first key of an object with its quotes; null where the bytes don't begin with one. */
function findFirstKey(bytes: Buffer): Buffer | null {
  const match = /^\{\s{0,60}("[^"\\]{1,200}")\s{0,60}:/.exec(bytes.toString('latin1', 0, 400));
  return match === null ? null : Buffer.from(match[1], 'latin1');
}
