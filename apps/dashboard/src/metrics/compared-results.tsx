import type { RunDetail, ValidationFigures } from '../api/schema';
import { useValidationsOfRuns } from '../api/validation-queries';
import { DataTable, type TableColumn } from '../components/data-table';
import { Link } from '../components/link';
import { SuccessInterval } from '../components/success-interval';
import { formatPercent } from '../format/numbers';
import { hasEnded } from '../format/run-state';
import page from '../pages/page.module.css';
import { newestFigures } from '../validation/best-version';
import { differenceOf, meanEstimate, type Estimate } from './intervals';
import { groupSeeds, labelOf } from './seed-groups';

const REFETCH_MS = 5_000;

interface Result {
  readonly runs: readonly RunDetail[];
  /** Success of the newest validated policy; null before the first validation. */
  readonly validation: Estimate | null;
  readonly test: Estimate | null;
  /** Of the validation, from that of the first row. */
  readonly difference: Estimate | null;
}

const COLUMNS: readonly TableColumn<Result>[] = [
  {
    label: 'Run',
    cell: ({ runs }) => <Link to={`/runs/${runs[0].runId}`}>{labelOf(runs)}</Link>,
  },
  {
    label: 'Seed',
    cell: ({ runs }) =>
      runs
        .map(({ seed }) => seed)
        .sort((a, b) => a - b)
        .join(', '),
  },
  { label: 'Validation', isNumeric: true, cell: ({ validation }) => formatPercent(validation?.value) },
  { label: '95 %', cell: ({ validation }) => <Interval {...validation} /> },
  {
    label: 'Difference',
    title: 'Of the validation, from that of the first row',
    isNumeric: true,
    cell: ({ difference }) => formatPercent(difference?.value),
  },
  {
    label: '95 %',
    isNumeric: true,
    cell: ({ difference }) =>
      difference === null || Number.isNaN(difference.low)
        ? '–'
        : `${formatPercent(difference.low)} … ${formatPercent(difference.high)}`,
  },
  { label: 'Test', isNumeric: true, cell: ({ test }) => formatPercent(test?.value) },
  { label: '95 %', cell: ({ test }) => <Interval {...test} /> },
];

interface ComparedResultsProps {
  readonly runs: readonly RunDetail[];
  /** Whether runs that differ by their seed alone are one row. */
  readonly isMean: boolean;
}

/** Success rates of the newest policies of runs, with intervals. */
export function ComparedResults({ runs, isMean }: ComparedResultsProps) {
  const figures = useValidationsOfRuns(
    runs.map(({ runId }) => runId),
    runs.every(hasEnded) ? false : REFETCH_MS,
  );
  const groups = isMean ? groupSeeds(runs, (run) => run) : runs.map((run) => [run]);
  const reached = groups.map((group) => {
    const of = (split: ValidationFigures['split']) =>
      estimateOf(group.flatMap(({ runId }) => newestFigures(figures.get(runId) ?? [], split) ?? []));
    return { runs: group, validation: of('validation'), test: of('test') };
  });
  const first = reached[0].validation;
  const rows = reached.map((row, i): Result => {
    const { validation } = row;
    const isCompared = i > 0 && first !== null && validation !== null;
    return { ...row, difference: isCompared ? differenceOf(first, validation) : null };
  });
  return (
    <div className={page.stack}>
      <h2>Results</h2>
      <DataTable label="Results" columns={COLUMNS} rows={rows} keyOf={({ runs: [one] }) => one.runId} />
      <p className={page.subtle}>
        Success of the newest policy that was validated, or tested. The interval of a run is Wilson’s, over
        its episodes; that of a mean of seeds is Student’s, over the seeds; that of a difference is recovered
        from both (Zou and Donner 2008). None is adjusted for several comparisons.
      </p>
    </div>
  );
}

/** One run's figures as they are, or the mean of several. */
function estimateOf(figures: readonly ValidationFigures[]): Estimate | null {
  if (figures.length === 0) return null;
  if (figures.length > 1) return meanEstimate(figures.map(({ success }) => success ?? Number.NaN));
  const [{ success, successLow, successHigh }] = figures;
  return { value: success ?? Number.NaN, low: successLow, high: successHigh };
}

function Interval({ value, low, high }: Partial<Estimate>) {
  if (value === undefined || low === undefined || high === undefined || Number.isNaN(low)) return '–';
  return <SuccessInterval low={Math.max(0, low)} high={Math.min(1, high)} rate={value} />;
}
