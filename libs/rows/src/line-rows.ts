import { parseRow, withoutMark } from './parse-row.js';
import { MAX_ROW_BYTES, type RowRead } from './row.js';

const NEWLINE = 0x0a;

/**
 * Reads JSON rows, one a line, which may begin with a byte-order mark, as each of several joined files does. A broken line is a broken
 * row and costs no other; empty lines are passed over. A last line without newline that can't be parsed is a cut one.
 */
export class LineRows {
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private line = 0;
  private isTooLarge = false;

  constructor(private readonly maxRowBytes = MAX_ROW_BYTES) {}

  /** Takes the next bytes of the file and returns the rows that end in them. */
  push(chunk: Buffer): RowRead[] {
    const rows: RowRead[] = [];
    let start = 0;
    for (;;) {
      const newline = chunk.indexOf(NEWLINE, start);
      if (newline === -1) break;
      this.hold(chunk.subarray(start, newline));
      this.flush(rows, false);
      start = newline + 1;
    }
    this.hold(chunk.subarray(start));
    return rows;
  }

  /** Returns the row after the last newline, if any. */
  end(): RowRead[] {
    const rows: RowRead[] = [];
    this.flush(rows, true);
    return rows;
  }

  private hold(bytes: Buffer): void {
    if (this.isTooLarge || bytes.length === 0) return;
    this.pendingBytes += bytes.length;
    if (this.pendingBytes > this.maxRowBytes) {
      this.isTooLarge = true;
      this.pending = [];
    } else this.pending.push(bytes);
  }

  private flush(rows: RowRead[], atEnd: boolean): void {
    this.line++;
    const bytes = withoutMark(this.pending.length === 1 ? this.pending[0] : Buffer.concat(this.pending));
    const isTooLarge = this.isTooLarge;
    this.pending = [];
    this.pendingBytes = 0;
    this.isTooLarge = false;
    if (isTooLarge) {
      const detail = `longer than ${this.maxRowBytes} bytes`;
      rows.push({ number: this.line, code: 'TOO_LARGE', detail });
      return;
    }
    if (isBlank(bytes)) return;
    const row = parseRow(bytes, this.line);
    if (atEnd && 'code' in row && row.code === 'NOT_JSON') {
      rows.push({ ...row, code: 'CUT', detail: `the file ends inside this row: ${row.detail}` });
    } else rows.push(row);
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte <= 0x20);
}
