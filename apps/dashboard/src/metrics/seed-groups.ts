import type { RunDetail } from '../api-types/schema';
import type { ChartColumns } from '../charts/chart-data';
import { shortId } from '../format/ids';

/** Fields of a recipe in which seeds of it may differ: as `seedsOf` of the list of runs. */
const DIFFERING = { seed: undefined, engine: undefined, process: undefined };

/** Puts runs that differ only by their seed together; a second run of a seed, which is no other sample, stays alone. Groups and their runs keep the order. */
export function groupSeeds<Item>(items: readonly Item[], runOf: (item: Item) => RunDetail): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const run = runOf(item);
    const group = groups.get(seedKey(run));
    if (group === undefined) groups.set(seedKey(run), [item]);
    else if (group.some((other) => runOf(other).seed === run.seed)) groups.set(run.runId, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/** Names a run, or runs of a recipe. */
export function labelSeeds([first, ...others]: readonly RunDetail[]): string {
  const more =
    others.length === 0 ? '' : ` and ${others.length} more ${others.length === 1 ? 'run' : 'runs'}`;
  return `${first.name} ${shortId(first.runId)}${more}`;
}

function seedKey({ runId, name, recipe }: RunDetail): string {
  return recipe === null ? runId : JSON.stringify([name, { ...(recipe as object), ...DIFFERING }]);
}

/**
 * Means of groups of columns with the least and the greatest of each: `[xs, …means, low₀, high₀, low₁, high₁, …]`. Between its first and its last value
 * a column is interpolated, since runs log at different times; a mean is that of the columns that have a value there. A group of one column stays as it
 * is, without ends.
 *
 * @param sizes columns of each group, in the order of the columns
 */
export function meanColumns([xs, ...columns]: ChartColumns, sizes: readonly number[]): ChartColumns {
  const means: (number | null)[][] = [];
  const ends: (number | null)[][] = [];
  let first = 0;
  for (const size of sizes) {
    const group = columns.slice(first, first + size);
    first += size;
    const filled = size === 1 ? group : group.map((column) => interpolated(xs, column));
    const rows = xs.map((_, row) => filled.flatMap((column) => column[row] ?? []));
    const ofRows = (figure: (values: readonly number[]) => number) =>
      rows.map((values) => (values.length === 0 ? null : figure(values)));
    means.push(ofRows((values) => values.reduce((sum, value) => sum + value, 0) / values.length));
    for (const end of [Math.min, Math.max]) {
      ends.push(size === 1 ? xs.map(() => null) : ofRows((values) => end(...values)));
    }
  }
  return [xs, ...means, ...ends];
}

/** Fills the gaps between values linearly. */
function interpolated(xs: readonly number[], column: readonly (number | null)[]): (number | null)[] {
  const filled = [...column];
  let left: number | null = null;
  column.forEach((value, right) => {
    if (value === null) return;
    if (left !== null) {
      const from = column[left] ?? value;
      for (let row = left + 1; row < right; row++)
        filled[row] = from + ((value - from) * (xs[row] - xs[left])) / (xs[right] - xs[left]);
    }
    left = right;
  });
  return filled;
}
