import { type Data, type DataType, FixedSizeBinary, TimestampMicrosecond } from './apache-arrow.js';
import { type ColumnBuilder, INITIAL_ROWS, newData, Validity } from './column-builder.js';
import { GrowingArray } from './growing-array.js';
import type { NumberArray, TypedArrayConstructor } from './number-array.js';

/** A column with one number in each row. */
export class NumberColumn<A extends Exclude<NumberArray, BigInt64Array>> implements ColumnBuilder {
  private readonly values: GrowingArray<A>;
  private readonly validity: Validity | null;

  constructor(
    private readonly type: DataType,
    arrayType: TypedArrayConstructor<A>,
    readonly isNullable = false,
  ) {
    this.values = new GrowingArray(arrayType, INITIAL_ROWS);
    this.validity = isNullable ? new Validity() : null;
  }

  get isUsed(): boolean {
    return this.values.length > 0;
  }

  /** null leaves the row as it is. */
  set(row: number, value: number | null): void {
    if (value === null) return;
    this.values.set(row, value);
    this.validity?.set(row);
  }

  finish(numRows: number): Data {
    this.values.extend(numRows);
    const data = this.values.finish();
    return newData(this.type, { length: numRows, nullCount: 0, ...this.validity?.finish(numRows), data });
  }

  clear(): void {
    this.values.clear();
    this.validity?.clear();
  }
}

const TWO_TO_32 = 2 ** 32;

/** A column with one time in each row, in microseconds since the Unix epoch. */
export class MicrosecondColumn implements ColumnBuilder {
  readonly isNullable = false;
  private readonly values = new GrowingArray(Float64Array, INITIAL_ROWS);

  get isUsed(): boolean {
    return this.values.length > 0;
  }

  set(row: number, value: number): void {
    this.values.set(row, value);
  }

  finish(numRows: number): Data {
    const data = new BigInt64Array(numRows);
    // Written as halves of 32 bits, because every BigInt would be an object. Times are integers from 0 to 2⁵³.
    const halves = new Uint32Array(data.buffer);
    this.values.finish().forEach((value, row) => {
      halves[2 * row] = value % TWO_TO_32;
      halves[2 * row + 1] = Math.floor(value / TWO_TO_32);
    });
    return newData(new TimestampMicrosecond('UTC'), { length: numRows, nullCount: 0, data });
  }

  clear(): void {
    this.values.clear();
  }
}

const BINARY_WIDTH = 16;

/** A column with 16 bytes in each row, for UUIDs and checksums. */
export class Binary16Column implements ColumnBuilder {
  readonly isNullable = false;
  private readonly bytes = new GrowingArray(Uint8Array, INITIAL_ROWS * BINARY_WIDTH);
  private view: Buffer = Buffer.alloc(0);

  get isUsed(): boolean {
    return this.bytes.length > 0;
  }

  /** @param hex 32 digits */
  set(row: number, hex: string): void {
    this.bytes.extend((row + 1) * BINARY_WIDTH);
    const { buffer } = this.bytes.values;
    if (this.view.buffer !== buffer) this.view = Buffer.from(buffer);
    this.view.write(hex, row * BINARY_WIDTH, BINARY_WIDTH, 'hex');
  }

  /** Sets the 16 bytes of `source` from `start` on. */
  setBytes(row: number, source: Uint8Array, start: number): void {
    this.bytes.extend((row + 1) * BINARY_WIDTH);
    const { values } = this.bytes;
    for (let i = 0; i < BINARY_WIDTH; i++) values[row * BINARY_WIDTH + i] = source[start + i];
  }

  finish(numRows: number): Data {
    this.bytes.extend(numRows * BINARY_WIDTH);
    const data = this.bytes.finish();
    return newData(new FixedSizeBinary(BINARY_WIDTH), { length: numRows, nullCount: 0, data });
  }

  clear(): void {
    this.bytes.clear();
  }
}
