import { lazy, Suspense } from 'react';
import type { NotebookPlotBody, SqlTable } from '../api-types/schema';
import controls from '../components/controls.module.css';
import { ErrorState, Loading } from '../components/notice';
import { Segments } from '../components/segments';
import { Select } from '../components/select';
import { TooltipButton } from '../components/tooltip';
import page from '../components/page.module.css';
import { PlanView } from './plan-view';
import styles from './query-cell.module.css';
import { ResultSummary } from './result-summary';
import { ResultTable } from './result-table';
import { SqlEditor } from './sql-editor';
import { RESULT_VIEWS, type QueryRuns, type ResultView } from './use-query-runs';

const ROW_LIMITS = [100, 1_000, 10_000].map((limit) => ({
  value: `${limit}`,
  label: limit.toLocaleString('en-US'),
}));

// Most results are read as a table, and the charts are a library of their own.
const ResultChart = lazy(async () => ({ default: (await import('./result-chart')).ResultChart }));

interface QueryCellProps {
  /** Name of the editor for screen readers. */
  readonly label: string;
  readonly query: string;
  readonly onChange: (query: string) => void;
  /** Tables and columns that completion offers. */
  readonly tables: readonly SqlTable[];
  readonly runs: QueryRuns;
  readonly onRun: () => void;
  readonly view: ResultView;
  readonly onView: (view: ResultView) => void;
  /** Columns of the chart; null: the first that make one. */
  readonly plot: NotebookPlotBody | null;
  readonly onPlot: (plot: NotebookPlotBody) => void;
  /** One of several, whose editor is only as high as its query. */
  readonly isSmall?: boolean;
}

/** An editor of one query, the buttons that run and explain it, and its answer. */
export function QueryCell(props: QueryCellProps) {
  const { label, query, onChange, tables, onRun, isSmall = false } = props;
  return (
    <div className={page.stack}>
      <SqlEditor {...{ label, tables, onChange, onRun, isSmall }} value={query} />
      <Toolbar {...props} />
      <Answer {...props} />
    </div>
  );
}

function Toolbar({ query, runs, onRun, view, onView }: QueryCellProps) {
  const { sql, plan, isPlanShown, isBusy, maxRows, setMaxRows } = runs;
  const isEmpty = query.trim() === '';
  return (
    <div className={styles.toolbar}>
      <button type="button" className={controls.primary} onClick={onRun} disabled={isBusy || isEmpty}>
        {sql.isPending ? 'Running…' : 'Run'}
      </button>
      <TooltipButton
        className={controls.button}
        tooltip="Shows what the query will read, without running it"
        onClick={() => void runs.explain(query)}
        disabled={isBusy || isEmpty}
      >
        {plan.isPending ? 'Explaining…' : 'Explain'}
      </TooltipButton>
      <kbd className={styles.keys}>Ctrl+Enter</kbd>
      <Select label="Row limit" value={maxRows} options={ROW_LIMITS} onChange={setMaxRows} />
      <Segments label="Result as" value={view} options={RESULT_VIEWS} onChange={onView} />
      <span className={styles.grow} />
      {sql.data && !isPlanShown && <ResultSummary result={sql.data} />}
    </div>
  );
}

function Answer({ runs: { sql, plan, isPlanShown }, view, plot, onPlot }: QueryCellProps) {
  const { error, data } = isPlanShown ? plan : sql;
  if (error) return <ErrorState error={error} />;
  if (!data) return null;
  if (isPlanShown) return plan.data && <PlanView plan={plan.data} />;
  if (!sql.data) return null;
  if (view === 'table') return <ResultTable result={sql.data} query={sql.variables.query} />;
  return (
    <Suspense fallback={<Loading label="Loading the chart" />}>
      <ResultChart result={sql.data} plot={plot} onPlot={onPlot} />
    </Suspense>
  );
}
