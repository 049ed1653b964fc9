import { isUuid } from '@retrace/trajectory';
import { DatasetError } from '../dataset-error.js';

/** A row of the query that chooses: `run_id` and `episode_id`; with `step` it chooses that step, with `split` its split. */
export type SelectionRow = Readonly<Record<string, unknown>>;

export interface Selection {
  readonly runId: string;
  readonly episodeId: string;
  /** Ascending; null = the whole episode. */
  readonly steps: readonly number[] | null;
  /** Null where the query names none. */
  readonly split: string | null;
}

interface Chosen {
  readonly runId: string;
  readonly split: string | null;
  readonly steps: Set<number> | null;
}

const SPLIT_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Reads which episodes or steps a query chose, in the order in which it named each episode first.
 *
 * @throws DatasetError `SELECTION_INVALID` naming row, column, value and rule
 */
export async function readSelection(rows: AsyncIterable<SelectionRow>): Promise<Selection[]> {
  const chosen = new Map<string, Chosen>();
  let index = 0;
  for await (const row of rows) {
    const episodeId = idIn(row, 'episode_id', index);
    const runId = idIn(row, 'run_id', index);
    const step = stepIn(row, index);
    const split = splitIn(row, index);
    const known = chosen.get(episodeId);
    if (known === undefined)
      chosen.set(episodeId, { runId, split, steps: step === null ? null : new Set([step]) });
    else if (known.split !== split)
      throw invalid(index, 'split', split, `must be "${known.split}" as in another row of this episode`);
    else if (step !== null) known.steps?.add(step);
    index += 1;
  }
  return [...chosen].map(([episodeId, { runId, split, steps }]) => ({
    runId,
    episodeId,
    split,
    steps: steps && [...steps].sort((a, b) => a - b),
  }));
}

function idIn(row: SelectionRow, column: 'run_id' | 'episode_id', index: number): string {
  const value = row[column];
  if (value === undefined) {
    const columns = Object.keys(row).join(', ');
    throw new DatasetError(
      'SELECTION_INVALID',
      `The query's result has no column "${column}"; it must have run_id and episode_id, and has ${columns}`,
    );
  }
  if (typeof value !== 'string' || !isUuid(value))
    throw invalid(index, column, value, 'must be a lower-case UUID');
  return value;
}

function stepIn({ step }: SelectionRow, index: number): number | null {
  if (step === undefined) return null;
  const number = Number(step);
  if (step === null || !Number.isSafeInteger(number) || number < 0)
    throw invalid(index, 'step', step, 'must be an integer ≥ 0');
  return number;
}

function splitIn({ split }: SelectionRow, index: number): string | null {
  if (split === undefined) return null;
  if (typeof split !== 'string' || !SPLIT_NAME.test(split))
    throw invalid(index, 'split', split, 'must be a lower-case name of at most 64 letters, digits and _');
  return split;
}

function invalid(index: number, column: string, value: unknown, rule: string): DatasetError {
  return new DatasetError(
    'SELECTION_INVALID',
    `Row ${index} of the query's result: ${column} is ${JSON.stringify(value)}; it ${rule}`,
  );
}
