import { FixedSizeBinary, TimestampMicrosecond, type Data, type DataType } from 'apache-arrow';
import {
  newData,
  Validity,
  type ColumnBuilder,
  type NumberArray,
  type TypedArrayConstructor,
} from './column-builder.js';

/** One number a row, stored as it is. */
export class NumberColumn<A extends Exclude<NumberArray, BigInt64Array>> implements ColumnBuilder {
  private values: A | null = null;
  private readonly validity: Validity | null;

  constructor(
    private readonly type: DataType,
    private readonly arrayType: TypedArrayConstructor<A>,
    private readonly numRows: number,
    readonly isNullable = false,
  ) {
    this.validity = isNullable ? new Validity(numRows) : null;
  }

  get isUsed(): boolean {
    return this.values !== null;
  }

  /** null leaves the row as it is. */
  set(row: number, value: number | null): void {
    if (value === null) return;
    this.values ??= new this.arrayType(this.numRows);
    this.values[row] = value;
    this.validity?.set(row);
  }

  finish(): Data {
    const data = this.values ?? new this.arrayType(this.numRows);
    return newData(this.type, { length: this.numRows, nullCount: 0, ...this.validity?.finish(), data });
  }
}

/** One time a row, in microseconds since the Unix epoch. */
export class MicrosecondColumn implements ColumnBuilder {
  readonly isNullable = false;
  private values: BigInt64Array | null = null;

  constructor(private readonly numRows: number) {}

  get isUsed(): boolean {
    return this.values !== null;
  }

  set(row: number, value: number): void {
    this.values ??= new BigInt64Array(this.numRows);
    this.values[row] = BigInt(value);
  }

  finish(): Data {
    const data = this.values ?? new BigInt64Array(this.numRows);
    return newData(new TimestampMicrosecond('UTC'), { length: this.numRows, nullCount: 0, data });
  }
}

const BINARY_WIDTH = 16;

/** 16 bytes a row: UUIDs and checksums. */
export class Binary16Column implements ColumnBuilder {
  readonly isNullable = false;
  private values: Buffer | null = null;

  constructor(private readonly numRows: number) {}

  get isUsed(): boolean {
    return this.values !== null;
  }

  /** @param hex 32 digits */
  set(row: number, hex: string): void {
    this.values ??= Buffer.alloc(this.numRows * BINARY_WIDTH);
    this.values.write(hex, row * BINARY_WIDTH, BINARY_WIDTH, 'hex');
  }

  finish(): Data {
    const data = this.values ?? Buffer.alloc(this.numRows * BINARY_WIDTH);
    return newData(new FixedSizeBinary(BINARY_WIDTH), { length: this.numRows, nullCount: 0, data });
  }
}
