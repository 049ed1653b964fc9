import { Binary, Field, List, Utf8, type Data, type DataType } from 'apache-arrow';
import {
  newData,
  Validity,
  type ColumnBuilder,
  type NumberArray,
  type TypedArrayConstructor,
} from './column-builder.js';

const INITIAL_ITEMS_PER_ROW = 32;
/** A UTF-16 unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

type GrowableArray = Exclude<NumberArray, BigInt64Array>;

/** A typed array that grows by doubling. */
export class GrowingArray<A extends GrowableArray> {
  values: A;
  length = 0;

  constructor(
    private readonly arrayType: TypedArrayConstructor<A>,
    capacity: number,
  ) {
    this.values = new arrayType(capacity);
  }

  reserve(extra: number): void {
    if (this.length + extra <= this.values.length) return;
    const grown = new this.arrayType(Math.max(2 * this.values.length, this.length + extra));
    grown.set(this.values.subarray(0, this.length));
    this.values = grown;
  }

  append(part: ArrayLike<number>): void {
    this.reserve(part.length);
    this.values.set(part, this.length);
    this.length += part.length;
  }

  finish(): A {
    return this.values.subarray(0, this.length) as A;
  }
}

/** Row r of a ragged column: items [offsets[r], offsets[r + 1]). */
export class RowOffsets {
  private readonly offsets: Int32Array;
  private numSet = 0;

  constructor(numRows: number) {
    this.offsets = new Int32Array(numRows + 1);
  }

  /** Gives `row` the items from `start` to `end`; rows left out before it are empty. */
  set(row: number, start: number, end: number): void {
    this.offsets.fill(start, this.numSet, row + 1);
    this.numSet = row + 1;
    this.offsets[this.numSet] = end;
  }

  finish(end: number): Int32Array {
    this.offsets.fill(end, this.numSet);
    return this.offsets;
  }
}

/** Text or bytes. */
export class BytesColumn implements ColumnBuilder {
  private bytes: GrowingArray<Uint8Array> | null = null;
  private view: Buffer = Buffer.alloc(0);
  private readonly offsets: RowOffsets;
  private readonly validity: Validity | null;

  constructor(
    private readonly type: Utf8 | Binary,
    private readonly numRows: number,
    readonly isNullable = false,
  ) {
    this.offsets = new RowOffsets(numRows);
    this.validity = isNullable ? new Validity(numRows) : null;
  }

  get isUsed(): boolean {
    return this.bytes !== null;
  }

  /** null leaves the row as it is. */
  set(row: number, content: string | Uint8Array | null): void {
    if (content === null) return;
    this.bytes ??= new GrowingArray(Uint8Array, this.numRows * INITIAL_ITEMS_PER_ROW);
    const start = this.bytes.length;
    if (typeof content === 'string') this.appendText(this.bytes, content);
    else this.bytes.append(content);
    this.offsets.set(row, start, this.bytes.length);
    this.validity?.set(row);
  }

  finish(): Data {
    const data = this.bytes?.finish() ?? new Uint8Array(0);
    const valueOffsets = this.offsets.finish(data.length);
    const length = this.numRows;
    return newData(this.type, { length, nullCount: 0, ...this.validity?.finish(), valueOffsets, data });
  }

  private appendText(bytes: GrowingArray<Uint8Array>, text: string): void {
    bytes.reserve(text.length * MAX_BYTES_PER_UNIT);
    if (this.view.buffer !== bytes.values.buffer) this.view = Buffer.from(bytes.values.buffer);
    bytes.length += this.view.write(text, bytes.length, 'utf8');
  }
}

/** A typed array a row. */
export class ListColumn<A extends GrowableArray> implements ColumnBuilder {
  readonly isNullable = false;
  private items: GrowingArray<A> | null = null;
  private readonly offsets: RowOffsets;

  constructor(
    private readonly itemType: DataType,
    private readonly arrayType: TypedArrayConstructor<A>,
    private readonly numRows: number,
  ) {
    this.offsets = new RowOffsets(numRows);
  }

  get isUsed(): boolean {
    return this.items !== null;
  }

  /** null is an empty row. */
  set(row: number, part: A | null): void {
    if (part === null || part.length === 0) return;
    this.items ??= new GrowingArray(this.arrayType, this.numRows * INITIAL_ITEMS_PER_ROW);
    const start = this.items.length;
    this.items.append(part);
    this.offsets.set(row, start, this.items.length);
  }

  finish(): Data {
    const data = this.items?.finish() ?? new this.arrayType(0);
    const child = newData(this.itemType, { length: data.length, nullCount: 0, data });
    return newList(child, this.offsets.finish(data.length), this.numRows);
  }
}

export function newList(child: Data, valueOffsets: Int32Array, length: number): Data {
  const type = new List(new Field('item', child.type, false));
  return newData(type, { length, nullCount: 0, valueOffsets, child });
}
