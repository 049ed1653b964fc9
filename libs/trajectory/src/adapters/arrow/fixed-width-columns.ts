import { FixedSizeBinary, TimestampMicrosecond, type Data, type DataType } from 'apache-arrow';
import {
  INITIAL_ROWS,
  newData,
  Validity,
  type ColumnBuilder,
  type NumberArray,
  type TypedArrayConstructor,
} from './column-builder.js';
import { GrowingArray } from './growing-array.js';

/** One number a row, stored as it is. */
export class NumberColumn<A extends Exclude<NumberArray, BigInt64Array>> implements ColumnBuilder {
  private values: GrowingArray<A> | null = null;
  private readonly validity: Validity | null;

  constructor(
    private readonly type: DataType,
    private readonly arrayType: TypedArrayConstructor<A>,
    readonly isNullable = false,
  ) {
    this.validity = isNullable ? new Validity() : null;
  }

  get isUsed(): boolean {
    return this.values !== null;
  }

  /** null leaves the row as it is. */
  set(row: number, value: number | null): void {
    if (value === null) return;
    this.values ??= new GrowingArray(this.arrayType, INITIAL_ROWS);
    this.values.set(row, value);
    this.validity?.set(row);
  }

  finish(numRows: number): Data {
    this.values?.extend(numRows);
    const data = this.values?.finish() ?? new this.arrayType(numRows);
    return newData(this.type, { length: numRows, nullCount: 0, ...this.validity?.finish(numRows), data });
  }
}

/** One time a row, in microseconds since the Unix epoch. */
export class MicrosecondColumn implements ColumnBuilder {
  readonly isNullable = false;
  private values: GrowingArray<Float64Array> | null = null;

  get isUsed(): boolean {
    return this.values !== null;
  }

  set(row: number, value: number): void {
    this.values ??= new GrowingArray(Float64Array, INITIAL_ROWS);
    this.values.set(row, value);
  }

  finish(numRows: number): Data {
    const data = new BigInt64Array(numRows);
    this.values?.finish().forEach((value, row) => (data[row] = BigInt(value)));
    return newData(new TimestampMicrosecond('UTC'), { length: numRows, nullCount: 0, data });
  }
}

const BINARY_WIDTH = 16;

/** 16 bytes a row: UUIDs and checksums. */
export class Binary16Column implements ColumnBuilder {
  readonly isNullable = false;
  private bytes: GrowingArray<Uint8Array> | null = null;
  private view: Buffer = Buffer.alloc(0);

  get isUsed(): boolean {
    return this.bytes !== null;
  }

  /** @param hex 32 digits */
  set(row: number, hex: string): void {
    this.bytes ??= new GrowingArray(Uint8Array, INITIAL_ROWS * BINARY_WIDTH);
    this.bytes.extend((row + 1) * BINARY_WIDTH);
    const { buffer } = this.bytes.values;
    if (this.view.buffer !== buffer) this.view = Buffer.from(buffer);
    this.view.write(hex, row * BINARY_WIDTH, BINARY_WIDTH, 'hex');
  }

  finish(numRows: number): Data {
    this.bytes?.extend(numRows * BINARY_WIDTH);
    const data = this.bytes?.finish() ?? new Uint8Array(numRows * BINARY_WIDTH);
    return newData(new FixedSizeBinary(BINARY_WIDTH), { length: numRows, nullCount: 0, data });
  }
}
