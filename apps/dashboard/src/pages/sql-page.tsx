import { lazy, Suspense } from 'react';
import { useSqlSchema } from '../api/queries';
import type { SqlTable } from '../api/schema';
import controls from '../components/controls.module.css';
import { ErrorState, Loading } from '../components/notice';
import { Segments } from '../components/segments';
import { Select } from '../components/select';
import { useTitle } from '../components/use-title';
import { ResultSummary } from '../sql/result-summary';
import { ResultTable } from '../sql/result-table';
import { SqlEditor } from '../sql/sql-editor';
import { SqlSidebar } from '../sql/sql-sidebar';
import { RESULT_VIEWS, useSqlSession } from '../sql/use-sql-session';
import page from './page.module.css';
import styles from './sql-page.module.css';

const NO_TABLES: readonly SqlTable[] = Object.freeze([]);
const ROW_LIMITS = [100, 1_000, 10_000].map((limit) => ({
  value: `${limit}`,
  label: limit.toLocaleString('en-US'),
}));

// Most results are read as a table, and the charts are a library of their own.
const ResultChart = lazy(async () => ({ default: (await import('../sql/result-chart')).ResultChart }));

type SqlSession = ReturnType<typeof useSqlSession>;

/** Runs SQL over the store. */
export function SqlPage() {
  useTitle('SQL');
  const session = useSqlSession();
  const schema = useSqlSchema();
  const tables = schema.data ?? NO_TABLES;
  const { query, setQuery, run, sql, kept, pick } = session;
  return (
    <>
      <div className={page.head}>
        <h1>SQL</h1>
        <p className={page.subtle}>ClickHouse SQL over all recorded events, read-only</p>
      </div>
      <div className={styles.layout}>
        <div className={page.stack}>
          <SqlEditor value={query} tables={tables} onChange={setQuery} onRun={() => run(query)} />
          <Toolbar session={session} />
          <Answer session={session} />
        </div>
        <SqlSidebar {...{ tables, kept, query }} error={schema.error} isBusy={sql.isPending} onPick={pick} />
      </div>
    </>
  );
}

function Toolbar({ session }: { readonly session: SqlSession }) {
  const { query, run, sql, maxRows, setMaxRows, view, setView } = session;
  return (
    <div className={styles.toolbar}>
      <button
        type="button"
        className={controls.primary}
        onClick={() => {
          run(query);
        }}
        disabled={sql.isPending || query.trim() === ''}
      >
        {sql.isPending ? 'Running…' : 'Run'}
      </button>
      <kbd className={styles.keys}>Ctrl+Enter</kbd>
      <Select label="Row limit" value={maxRows} options={ROW_LIMITS} onChange={setMaxRows} />
      <Segments label="Result as" value={view} options={RESULT_VIEWS} onChange={setView} />
      <span className={styles.grow} />
      {sql.data && <ResultSummary result={sql.data} />}
    </div>
  );
}

function Answer({ session: { sql, view } }: { readonly session: SqlSession }) {
  if (sql.isError) return <ErrorState error={sql.error} />;
  if (!sql.data) return null;
  if (view === 'table') return <ResultTable result={sql.data} />;
  return (
    <Suspense fallback={<Loading label="Loading the chart" />}>
      <ResultChart result={sql.data} />
    </Suspense>
  );
}
