import type { ComparisonOfPlay } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { numberColumn, textColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { formatCount, formatNumber, formatPercent } from '../format/numbers';
import page from '../components/page.module.css';

const COLUMNS: readonly TableColumn<ComparisonOfPlay>[] = [
  textColumn('Environment', ({ environment }) => environment),
  textColumn('Split', ({ split }) => split),
  textColumn('First', ({ first }) => first),
  textColumn('Second', ({ second }) => second),
  numberColumn('Tasks', ({ numTasks }) => numTasks, formatCount),
  numberColumn('Second − first', ({ difference }) => difference, formatPercent),
  {
    label: '95 %',
    isNumeric: true,
    cell: ({ differenceLow, differenceHigh }) =>
      differenceLow === null ? '–' : `${formatPercent(differenceLow)} … ${formatPercent(differenceHigh)}`,
  },
  numberColumn('Only first', ({ numOnlyFirst }) => numOnlyFirst, formatCount),
  numberColumn('Only second', ({ numOnlySecond }) => numOnlySecond, formatCount),
  numberColumn('p', ({ pValue }) => pValue, formatNumber, { title: 'McNemar’s exact test, two-sided' }),
];

/** Policies compared on the tasks that both have played. */
export function Comparisons({ comparisons }: { readonly comparisons: readonly ComparisonOfPlay[] }) {
  return (
    <>
      <h2>Comparison</h2>
      <DataTable label="Comparison" columns={COLUMNS} rows={comparisons} />
      <p className={page.subtle}>
        Paired by task. The interval is Bonett’s and Price’s, and p is McNemar’s exact test, which needs one
        attempt at each task; neither is adjusted for several comparisons.
      </p>
    </>
  );
}
