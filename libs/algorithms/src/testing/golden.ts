import { readFileSync } from 'node:fs';
import { toOffsets } from '../layout/ragged.js';

/** A batch of batches.json, reduced to action tokens: the layout that the library works on. */
export interface GoldenBatch {
  /** Rows over action tokens `[E + 1]`. */
  readonly offsets: Int32Array;
  /** Rows over all tokens, observations too `[E + 1]`. */
  readonly tokenOffsets: Int32Array;
  /** 1 at action tokens, over all tokens. */
  readonly mask: Uint8Array;
  readonly groupIds: Int32Array;
  readonly truncated: Uint8Array;
  readonly finalValues: Float32Array;
  /** A column of the batch at action tokens. */
  column(name: string): Float32Array;
  /** A column of the batch at all tokens. */
  tokenColumn(name: string): Float32Array;
  /** The first value of a column in each row, at all its action tokens. */
  sequenceColumn(name: string): Float32Array;
}

interface StoredBatch {
  readonly mask: readonly (readonly number[])[];
  readonly groups: readonly number[];
  readonly truncated: readonly number[];
  readonly final_values: readonly number[];
  readonly [column: string]: readonly number[] | readonly (readonly number[])[];
}

/** Reads one of the committed golden files. */
export function readGolden(fileName: string): unknown {
  const url = new URL(`../../../../test/golden/algorithms/${fileName}`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8'));
}

const stored = readGolden('batches.json') as Record<string, StoredBatch>;

export function goldenBatch(name: string): GoldenBatch {
  const batch = stored[name];
  const mask = Uint8Array.from(batch.mask.flat());
  const tokenColumn = (column: string): Float32Array => Float32Array.from(batch[column].flat());
  const tokenOffsets = toOffsets(batch.mask.map((row) => row.length));
  const sequenceColumn = (column: string): Float32Array => {
    const all = tokenColumn(column);
    const spread = all.map((_, t) => all[tokenOffsets.findLast((start) => start <= t) ?? 0]);
    return spread.filter((_, t) => mask[t] === 1);
  };
  return {
    offsets: toOffsets(batch.mask.map((row) => row.reduce((sum, bit) => sum + bit, 0))),
    tokenOffsets,
    mask,
    groupIds: Int32Array.from(batch.groups),
    truncated: Uint8Array.from(batch.truncated),
    finalValues: Float32Array.from(batch.final_values),
    tokenColumn,
    sequenceColumn,
    column: (column) => tokenColumn(column).filter((_, t) => mask[t] === 1),
  };
}
