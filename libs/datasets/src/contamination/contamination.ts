import type { DatasetRow } from '../formats/dataset-format.js';
import { nGrams, splitWords } from './n-grams.js';

/** The tasks and states that a row comes from. */
export interface RowIdentity {
  readonly tasks: readonly string[];
  /** States of the environment that the row covers. */
  readonly anchors: readonly string[];
}

/** Rows of one split that the largest split contains, too. */
export interface ContaminatedSplit {
  readonly split: string;
  /** The largest split, which this one is compared with. */
  readonly comparedWith: string;
  readonly numRows: number;
  readonly numRowsWithSharedTask: number;
  readonly numRowsWithSharedAnchor: number;
  readonly numRowsWithSharedNGram: number;
  /** The first of these rows, from 0. */
  readonly examples: readonly number[];
}

export interface ContaminationReport {
  /** Words of an n-gram. */
  readonly nGramWords: number;
  readonly splits: readonly ContaminatedSplit[];
}

/** Reads the rows of a finished split again. */
export type RowsOfSplit = (split: string) => AsyncIterable<DatasetRow>;

const MAX_EXAMPLES = 10;
/** An n-gram in more of a split's own rows than this share is a template's text, and says nothing of contamination. */
const TEMPLATE_FRACTION = 0.1;

/**
 * Compares each split with the largest: by task, by anchor, and by n-grams of words (as GPT-3 was checked, with n = 13: Brown et al.,
 * 2020, appendix C). N-grams that more than a tenth of a split's own rows contain are templates and don't count. Needs memory for the
 * n-grams of the smaller splits only.
 */
export async function checkContamination(
  identities: ReadonlyMap<string, readonly RowIdentity[]>,
  rowsOf: RowsOfSplit,
  nGramWords: number,
): Promise<ContaminationReport> {
  const [largest, ...others] = [...identities].sort(([, a], [, b]) => b.length - a.length);
  const splits: ContaminatedSplit[] = [];
  for (const [split, rows] of others) {
    const shared = await rowsWithSharedNGrams(split, largest[0], rowsOf, nGramWords);
    const tasks = rowsWithShared(rows, largest[1], ({ tasks: values }) => values);
    const anchors = rowsWithShared(rows, largest[1], ({ anchors: values }) => values);
    splits.push({
      split,
      comparedWith: largest[0],
      numRows: rows.length,
      numRowsWithSharedTask: tasks.length,
      numRowsWithSharedAnchor: anchors.length,
      numRowsWithSharedNGram: shared.length,
      examples: [...new Set([...tasks, ...anchors, ...shared])].slice(0, MAX_EXAMPLES),
    });
  }
  return { nGramWords, splits };
}

/** Whether any row of a split was found in another. */
export const isContaminated = ({ splits }: ContaminationReport): boolean =>
  splits.some(
    (split) => split.numRowsWithSharedTask + split.numRowsWithSharedAnchor + split.numRowsWithSharedNGram > 0,
  );

function rowsWithShared(
  rows: readonly RowIdentity[],
  base: readonly RowIdentity[],
  valuesOf: (row: RowIdentity) => readonly string[],
): number[] {
  const known = new Set(base.flatMap(valuesOf));
  return rows.flatMap((row, r) => (valuesOf(row).some((value) => known.has(value)) ? [r] : []));
}

async function rowsWithSharedNGrams(
  split: string,
  base: string,
  rowsOf: RowsOfSplit,
  nGramWords: number,
): Promise<number[]> {
  const rows: Set<number>[] = [];
  const numRowsWith = new Map<number, number>();
  for await (const row of rowsOf(split)) {
    const grams = nGrams(splitWords(row), nGramWords);
    rows.push(grams);
    for (const gram of grams) numRowsWith.set(gram, (numRowsWith.get(gram) ?? 0) + 1);
  }
  const limit = Math.max(1, TEMPLATE_FRACTION * rows.length);
  const found = new Set<number>();
  for await (const row of rowsOf(base)) {
    for (const gram of nGrams(splitWords(row), nGramWords))
      if ((numRowsWith.get(gram) ?? Infinity) <= limit) found.add(gram);
  }
  return rows.flatMap((grams, r) => ([...grams].some((gram) => found.has(gram)) ? [r] : []));
}
