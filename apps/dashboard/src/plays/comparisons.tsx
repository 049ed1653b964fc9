import type { ComparisonOfPlay } from '../api/schema';
import { DataTable, type TableColumn } from '../components/data-table';
import { formatCount, formatNumber, formatPercent } from '../format/numbers';
import page from '../pages/page.module.css';

const COLUMNS: readonly TableColumn<ComparisonOfPlay>[] = [
  { label: 'Environment', cell: ({ environment }) => environment },
  { label: 'Split', cell: ({ split }) => split },
  { label: 'First', cell: ({ first }) => first },
  { label: 'Second', cell: ({ second }) => second },
  { label: 'Tasks', isNumeric: true, cell: ({ numTasks }) => formatCount(numTasks) },
  { label: 'Second − first', isNumeric: true, cell: ({ difference }) => formatPercent(difference) },
  {
    label: '95 %',
    isNumeric: true,
    cell: ({ differenceLow, differenceHigh }) =>
      differenceLow === null ? '–' : `${formatPercent(differenceLow)} … ${formatPercent(differenceHigh)}`,
  },
  { label: 'Only first', isNumeric: true, cell: ({ numOnlyFirst }) => formatCount(numOnlyFirst) },
  { label: 'Only second', isNumeric: true, cell: ({ numOnlySecond }) => formatCount(numOnlySecond) },
  {
    label: 'p',
    title: 'McNemar’s exact test, two-sided',
    isNumeric: true,
    cell: ({ pValue }) => formatNumber(pValue),
  },
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
