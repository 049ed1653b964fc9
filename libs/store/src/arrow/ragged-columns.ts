import { Binary, type Data, type DataType, Field, List, Utf8 } from './apache-arrow.js';
import { copyBytes } from '@retrace/trajectory';
import { type ColumnBuilder, INITIAL_ROWS, newData, Validity } from './column-builder.js';
import { GrowingArray } from './growing-array.js';
import type { NumberArray, TypedArrayConstructor } from './number-array.js';

const INITIAL_ITEMS_PER_ROW = 32;
/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** Row r of a ragged column: items [offsets[r], offsets[r + 1]). */
export class RowOffsets {
  private readonly offsets = new GrowingArray(Int32Array, INITIAL_ROWS + 1);
  private numSet = 0;

  /** Whether no row has been set. */
  get isEmpty(): boolean {
    return this.numSet === 0;
  }

  /** Gives `row` the items from `start` to `end`; rows left out before it are empty. */
  set(row: number, start: number, end: number): void {
    this.offsets.extend(row + 2);
    this.offsets.values.fill(start, this.numSet, row + 1);
    this.numSet = row + 1;
    this.offsets.values[this.numSet] = end;
  }

  finish(numRows: number, end: number): Int32Array {
    this.offsets.extend(numRows + 1);
    this.offsets.values.fill(end, this.numSet, numRows + 1);
    return this.offsets.finish();
  }

  clear(): void {
    this.offsets.clear();
    this.numSet = 0;
  }
}

/** A column of text or bytes. */
export class BytesColumn implements ColumnBuilder {
  private readonly bytes = new GrowingArray(Uint8Array, INITIAL_ROWS * INITIAL_ITEMS_PER_ROW);
  private view: Buffer = Buffer.alloc(0);
  private readonly offsets = new RowOffsets();
  private readonly validity: Validity | null;

  constructor(
    private readonly type: Utf8 | Binary,
    readonly isNullable = false,
  ) {
    this.validity = isNullable ? new Validity() : null;
  }

  get isUsed(): boolean {
    return !this.offsets.isEmpty;
  }

  /** null leaves the row as it is. */
  set(row: number, content: string | Uint8Array | null): void {
    if (content === null) return;
    const start = this.bytes.length;
    if (typeof content === 'string') this.appendText(content);
    else this.bytes.append(content);
    this.offsets.set(row, start, this.bytes.length);
    this.validity?.set(row);
  }

  /** Sets the bytes of `source` from `start` to `end`; for text they must be valid UTF-8. */
  setBytes(row: number, source: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    const at = bytes.length;
    bytes.reserve(end - start);
    copyBytes(source, start, end, bytes.values, at);
    bytes.length += end - start;
    this.offsets.set(row, at, bytes.length);
    this.validity?.set(row);
  }

  finish(numRows: number): Data {
    const data = this.bytes.finish();
    const valueOffsets = this.offsets.finish(numRows, data.length);
    const validity = this.validity?.finish(numRows);
    return newData(this.type, { length: numRows, nullCount: 0, ...validity, valueOffsets, data });
  }

  clear(): void {
    this.bytes.clear();
    this.offsets.clear();
    this.validity?.clear();
  }

  private appendText(text: string): void {
    const { bytes } = this;
    bytes.reserve(text.length * MAX_BYTES_PER_UNIT);
    if (this.view.buffer !== bytes.values.buffer) this.view = Buffer.from(bytes.values.buffer);
    bytes.length += this.view.write(text, bytes.length, 'utf8');
  }
}

/** A column with a typed array in each row. */
export class ListColumn<A extends Exclude<NumberArray, BigInt64Array>> implements ColumnBuilder {
  readonly isNullable = false;
  private readonly items: GrowingArray<A>;
  private readonly offsets = new RowOffsets();

  constructor(
    private readonly itemType: DataType,
    arrayType: TypedArrayConstructor<A>,
  ) {
    this.items = new GrowingArray(arrayType, INITIAL_ROWS * INITIAL_ITEMS_PER_ROW);
  }

  get isUsed(): boolean {
    return this.items.length > 0;
  }

  /** null is an empty row. */
  set(row: number, part: A | null): void {
    if (part === null || part.length === 0) return;
    const start = this.items.length;
    this.items.append(part);
    this.offsets.set(row, start, this.items.length);
  }

  /** Returns memory for the items of the next row, to be filled before `keep` assigns it to the row. */
  room(length: number): A {
    this.items.reserve(length);
    return this.items.values.subarray(this.items.length, this.items.length + length) as A;
  }

  keep(row: number, length: number): void {
    if (length === 0) return;
    const start = this.items.length;
    this.items.length += length;
    this.offsets.set(row, start, this.items.length);
  }

  finish(numRows: number): Data {
    const data = this.items.finish();
    const child = newData(this.itemType, { length: data.length, nullCount: 0, data });
    return newList(child, this.offsets.finish(numRows, data.length), numRows);
  }

  clear(): void {
    this.items.clear();
    this.offsets.clear();
  }
}

export function newList(child: Data, valueOffsets: Int32Array, length: number): Data {
  const type = new List(new Field('item', child.type, false));
  return newData(type, { length, nullCount: 0, valueOffsets, child });
}
