import type { RunDetail, ValidationFigures } from '../api-types/schema';
import { useNewestFigures } from '../validation/validation-queries';
import { DataTable } from '../components/data-table';
import { Link } from '../components/link';
import { SuccessInterval } from '../components/success-interval';
import type { TableColumn } from '../components/table-model';
import { formatPercent } from '../format/numbers';
import { hasEnded } from '../format/run-state';
import page from '../components/page.module.css';
import { estimateDifference, meanRate, type Estimate } from './intervals';
import { groupSeeds, labelSeeds } from './seed-groups';

const REFETCH_MS = 5_000;

interface Reached extends Estimate {
  /** Seeds that have figures. */
  readonly numSeeds: number;
}

interface Result {
  readonly runs: readonly RunDetail[];
  /** Success of the newest validated policy; null before the first validation. */
  readonly validation: Reached | null;
  readonly test: Reached | null;
  /** Of the validation, from that of the first row. */
  readonly difference: Estimate | null;
}

const COLUMNS: readonly TableColumn<Result>[] = [
  {
    label: 'Run',
    cell: ({ runs }) => <Link to={`/runs/${runs[0].runId}`}>{labelSeeds(runs)}</Link>,
  },
  {
    label: 'Seed',
    cell: ({ runs }) =>
      runs
        .map(({ seed }) => seed)
        .sort((a, b) => a - b)
        .join(', '),
  },
  rateColumn('Validation', ({ validation }) => validation),
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
  rateColumn('Test', ({ test }) => test),
  { label: '95 %', cell: ({ test }) => <Interval {...test} /> },
];

interface ComparedResultsProps {
  readonly runs: readonly RunDetail[];
  /** Whether runs that differ only by their seed are one row. */
  readonly isMean: boolean;
}

/** Success rates of the newest policies of runs, with intervals. */
export function ComparedResults({ runs, isMean }: ComparedResultsProps) {
  const runIds = runs.map(({ runId }) => runId);
  const refetchMs = runs.every(hasEnded) ? false : REFETCH_MS;
  const validations = useNewestFigures(runIds, 'validation', refetchMs);
  const tests = useNewestFigures(runIds, 'test', refetchMs);
  const groups = isMean ? groupSeeds(runs, (run) => run) : runs.map((run) => [run]);
  const reached = groups.map((group) => ({
    runs: group,
    validation: computeEstimate(group, validations),
    test: computeEstimate(group, tests),
  }));
  const first = reached[0].validation;
  const rows = reached.map((row, i): Result => {
    const { validation } = row;
    const isCompared = i > 0 && first !== null && validation !== null;
    return { ...row, difference: isCompared ? estimateDifference(first, validation) : null };
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

type FiguresByRun = ReadonlyMap<string, ValidationFigures | null>;

/** The figures of one run as they are, or the mean of those seeds that have some. */
function computeEstimate(group: readonly RunDetail[], figures: FiguresByRun): Reached | null {
  const known = group.flatMap(({ runId }) => figures.get(runId) ?? []);
  if (known.length === 0) return null;
  if (group.length > 1)
    return { ...meanRate(known.map(({ success }) => success ?? Number.NaN)), numSeeds: known.length };
  const [{ success, successLow, successHigh }] = known;
  return { value: success ?? Number.NaN, low: successLow, high: successHigh, numSeeds: 1 };
}

function rateColumn(label: string, of: (result: Result) => Reached | null): TableColumn<Result> {
  return {
    ...{ label, isNumeric: true },
    cell: (result) => {
      const reached = of(result);
      const isPartial = reached !== null && reached.numSeeds < result.runs.length;
      return (
        <>
          {formatPercent(reached?.value)}
          {isPartial && <small> of {reached.numSeeds} seeds</small>}
        </>
      );
    },
  };
}

function Interval({ value, low, high }: Partial<Estimate>) {
  if (value === undefined || low === undefined || high === undefined || Number.isNaN(low)) return '–';
  return <SuccessInterval low={low} high={high} rate={value} />;
}
