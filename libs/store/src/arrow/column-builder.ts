import { type Data, type DataType, makeData } from 'apache-arrow';
import { GrowingArray } from './growing-array.js';
import type { NumberArray } from './number-array.js';

/** Rows that a column has room for at its first `set`. */
export const INITIAL_ROWS = 1024;

/**
 * One Arrow column, built over flat buffers.
 *
 * It grows with the rows that are set, in ascending order; those that never are hold the type's default (0, empty; null where
 * nullable). Nothing is allocated for values before the first `set`.
 */
export interface ColumnBuilder {
  /** False while no row was set: the column may be left out of an insert. */
  readonly isUsed: boolean;
  readonly isNullable: boolean;
  /** The column, over memory that the next change or `clear` takes back. */
  finish(numRows: number): Data;
  /** Makes it as new, for other rows in the same memory. */
  clear(): void;
}

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
  private readonly bitmap = new GrowingArray(Uint8Array, INITIAL_ROWS / 8);
  private numValid = 0;

  set(row: number): void {
    this.bitmap.extend((row >> 3) + 1);
    this.bitmap.values[row >> 3] |= 1 << (row & 7);
    this.numValid++;
  }

  clear(): void {
    this.bitmap.clear();
    this.numValid = 0;
  }

  finish(numRows: number): { readonly nullCount: number; readonly nullBitmap: Uint8Array } {
    this.bitmap.extend(Math.ceil(numRows / 8));
    return { nullCount: numRows - this.numValid, nullBitmap: this.bitmap.finish() };
  }
}
