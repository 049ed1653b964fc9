import { Binary, Field, List, Utf8, type Data, type DataType } from 'apache-arrow';
import {
  INITIAL_ROWS,
  newData,
  Validity,
  type ColumnBuilder,
  type NumberArray,
  type TypedArrayConstructor,
} from './column-builder.js';
import { GrowingArray } from './growing-array.js';

const INITIAL_ITEMS_PER_ROW = 32;
/** A UTF-16 unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** Row r of a ragged column: items [offsets[r], offsets[r + 1]). */
export class RowOffsets {
  private readonly offsets = new GrowingArray(Int32Array, INITIAL_ROWS + 1);
  private numSet = 0;

  /** Gives `row` the items from `start` to `end`; rows left out before it are empty. */
  set(row: number, start: number, end: number): void {
    this.offsets.extend(row + 2);
    this.offsets.values.fill(start, this.numSet, row + 1);
    this.numSet = row + 1;
    this.offsets.values[this.numSet] = end;
  }

  finish(numRows: number, end: number): Int32Array {
    this.offsets.extend(numRows + 1);
    this.offsets.values.fill(end, this.numSet);
    return this.offsets.finish();
  }
}

/** Text or bytes. */
export class BytesColumn implements ColumnBuilder {
  private bytes: GrowingArray<Uint8Array> | null = null;
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
    return this.bytes !== null;
  }

  /** null leaves the row as it is. */
  set(row: number, content: string | Uint8Array | null): void {
    if (content === null) return;
    this.bytes ??= new GrowingArray(Uint8Array, INITIAL_ROWS * INITIAL_ITEMS_PER_ROW);
    const start = this.bytes.length;
    if (typeof content === 'string') this.appendText(this.bytes, content);
    else this.bytes.append(content);
    this.offsets.set(row, start, this.bytes.length);
    this.validity?.set(row);
  }

  finish(numRows: number): Data {
    const data = this.bytes?.finish() ?? new Uint8Array(0);
    const valueOffsets = this.offsets.finish(numRows, data.length);
    const validity = this.validity?.finish(numRows);
    return newData(this.type, { length: numRows, nullCount: 0, ...validity, valueOffsets, data });
  }

  private appendText(bytes: GrowingArray<Uint8Array>, text: string): void {
    bytes.reserve(text.length * MAX_BYTES_PER_UNIT);
    if (this.view.buffer !== bytes.values.buffer) this.view = Buffer.from(bytes.values.buffer);
    bytes.length += this.view.write(text, bytes.length, 'utf8');
  }
}

/** A typed array a row. */
export class ListColumn<A extends Exclude<NumberArray, BigInt64Array>> implements ColumnBuilder {
  readonly isNullable = false;
  private items: GrowingArray<A> | null = null;
  private readonly offsets = new RowOffsets();

  constructor(
    private readonly itemType: DataType,
    private readonly arrayType: TypedArrayConstructor<A>,
  ) {}

  get isUsed(): boolean {
    return this.items !== null;
  }

  /** null is an empty row. */
  set(row: number, part: A | null): void {
    if (part === null || part.length === 0) return;
    this.items ??= new GrowingArray(this.arrayType, INITIAL_ROWS * INITIAL_ITEMS_PER_ROW);
    const start = this.items.length;
    this.items.append(part);
    this.offsets.set(row, start, this.items.length);
  }

  finish(numRows: number): Data {
    const data = this.items?.finish() ?? new this.arrayType(0);
    const child = newData(this.itemType, { length: data.length, nullCount: 0, data });
    return newList(child, this.offsets.finish(numRows, data.length), numRows);
  }
}

export function newList(child: Data, valueOffsets: Int32Array, length: number): Data {
  const type = new List(new Field('item', child.type, false));
  return newData(type, { length, nullCount: 0, valueOffsets, child });
}
