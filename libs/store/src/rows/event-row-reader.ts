import type { Json } from '@retrace/trajectory';
import type { ArrowColumns, FlatLists, FlatNumbers, NullableNumbers } from '../arrow/arrow-columns.js';

/** Reads the rows of a `SELECT … FROM events`, one at a time: `row` is the current one. Decodes each column once. */
export class EventRowReader {
  row = 0;
  private readonly decoded = new Map<string, unknown>();

  constructor(private readonly columns: ArrowColumns) {}

  get numRows(): number {
    return this.columns.numRows;
  }

  number(name: string): number {
    return this.column<FlatNumbers>(name, () => this.columns.numbers(name))[this.row];
  }

  nullableNumber(name: string): number | null {
    const column = this.column<NullableNumbers>(name, () => this.columns.nullableNumbers(name));
    return column.isValid[this.row] === 1 ? column.values[this.row] : null;
  }

  flag(name: string): boolean {
    return this.column<Uint8Array>(name, () => this.columns.flags(name))[this.row] === 1;
  }

  nullableFlag(name: string): boolean | null {
    const value = this.nullableNumber(name);
    return value === null ? null : value === 1;
  }

  text(name: string): string {
    return this.column<string[]>(name, () => this.columns.texts(name))[this.row];
  }

  nullableText(name: string): string | null {
    return this.column<(string | null)[]>(name, () => this.columns.nullableTexts(name))[this.row];
  }

  texts(name: string): string[] {
    return this.column<string[][]>(name, () => this.columns.textLists(name))[this.row];
  }

  bytes(name: string): Uint8Array {
    return this.column<Uint8Array[]>(name, () => this.columns.bytes(name))[this.row];
  }

  /** Returns 16 bytes as 32 hex digits. */
  hex16(name: string): string {
    const column = this.column<Uint8Array>(name, () => this.columns.fixedBytes(name, 16));
    return Buffer.from(column.buffer, column.byteOffset + this.row * 16, 16).toString('hex');
  }

  int32s(name: string): Int32Array {
    return Int32Array.from(this.list(name));
  }

  uint8s(name: string): Uint8Array {
    return Uint8Array.from(this.list(name));
  }

  /** Copies bit by bit, so NaNs keep their payload. */
  float32s(name: string): Float32Array {
    return (this.list(name) as Float32Array).slice();
  }

  float64s(name: string): Float64Array {
    return (this.list(name) as Float64Array).slice();
  }

  /** Parses the JSON text of column `payload`. */
  rest<T extends Json>(): T {
    return JSON.parse(this.text('payload')) as T;
  }

  private list(name: string): FlatNumbers {
    const { offsets, values } = this.column<FlatLists>(name, () => this.columns.lists(name));
    return values.subarray(offsets[this.row], offsets[this.row + 1]) as FlatNumbers;
  }

  private column<T>(name: string, decode: () => T): T {
    let column = this.decoded.get(name);
    if (column === undefined) {
      column = decode();
      this.decoded.set(name, column);
    }
    return column as T;
  }
}
