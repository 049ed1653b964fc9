import { makeData, type Data, type DataType } from 'apache-arrow';

/**
 * One Arrow column, built over flat buffers.
 *
 * A builder knows how many rows there will be. Rows are set in ascending order; those that never are hold the type's default
 * (0, empty; null where nullable). Nothing is allocated for values before the first `set`.
 */
export interface ColumnBuilder {
  /** False while no row was set: the column may be left out of an insert. */
  readonly isUsed: boolean;
  readonly isNullable: boolean;
  finish(): Data;
}

export type NumberArray =
  Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array | BigInt64Array;

export type TypedArrayConstructor<A extends NumberArray> = new (length: number) => A;

/** The buffers of a column, as `makeData` takes them. */
export interface ColumnBuffers {
  readonly length: number;
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array;
  readonly data?: NumberArray;
  readonly valueOffsets?: Int32Array;
  readonly child?: Data;
  readonly children?: readonly Data[];
  readonly dictionary?: unknown;
}

/** `makeData` without its per-type overloads, which a builder that is generic over the type can't choose between. */
export function newData(type: DataType, buffers: ColumnBuffers): Data {
  return makeData({ type, ...buffers } as unknown as Parameters<typeof makeData>[0]) as Data;
}

/** Which rows of a nullable column hold a value, as Arrow has it: bit i of the bitmap is row i. */
export class Validity {
  private readonly nullBitmap: Uint8Array;
  private numValid = 0;

  constructor(private readonly numRows: number) {
    this.nullBitmap = new Uint8Array(Math.ceil(numRows / 8));
  }

  set(row: number): void {
    this.nullBitmap[row >> 3] |= 1 << (row & 7);
    this.numValid++;
  }

  finish(): { readonly nullCount: number; readonly nullBitmap: Uint8Array } {
    return { nullCount: this.numRows - this.numValid, nullBitmap: this.nullBitmap };
  }
}
