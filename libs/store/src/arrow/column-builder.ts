import { type Data, type DataType, makeData } from './apache-arrow.js';
import { GrowingArray } from './growing-array.js';
import type { NumberArray } from './number-array.js';

/** Rows for which a column allocates memory at its first `set`. */
export const INITIAL_ROWS = 1024;

/**
 * One Arrow column, built over flat buffers.
 *
 * Rows are set in ascending order. Rows that are left out hold the type's default (0, empty; null where nullable). Nothing is allocated
 * before the first `set`.
 */
export interface ColumnBuilder {
  /** Whether any row was set; otherwise an insert may leave the column out. */
  readonly isUsed: boolean;
  readonly isNullable: boolean;
  /** Returns the column. It shares the builder's memory, so it is valid until the next change or `clear`. */
  finish(numRows: number): Data;
  /** Empties it, and keeps its memory for other rows. */
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

/** Arrow's validity bitmap of a nullable column: bit i says whether row i holds a value. */
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
