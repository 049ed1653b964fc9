import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { useSql, useSqlSchema } from '../api/queries';
import type { SqlTable } from '../api/schema';
import controls from '../components/controls.module.css';
import { ErrorState, Loading } from '../components/notice';
import { Segments } from '../components/segments';
import { offered, Select } from '../components/select';
import { useTitle } from '../components/use-title';
import { FIRST_QUERY } from '../sql/examples';
import { useKeptQueries } from '../sql/kept-queries';
import { ResultSummary } from '../sql/result-summary';
import { ResultTable } from '../sql/result-table';
import { SqlEditor } from '../sql/sql-editor';
import { SqlSidebar } from '../sql/sql-sidebar';
import page from './page.module.css';
import styles from './sql-page.module.css';

const STORAGE_KEY = 'retrace.sql';
const NO_TABLES: readonly SqlTable[] = Object.freeze([]);
const ROW_LIMITS = [100, 1_000, 10_000].map((limit) => ({
  value: `${limit}`,
  label: limit.toLocaleString('en-US'),
}));

const VIEWS = [
  { value: 'table', label: 'Table' },
  { value: 'chart', label: 'Chart' },
] as const;

// Most results are read as a table, and the charts are a library of their own.
const ResultChart = lazy(async () => ({ default: (await import('../sql/result-chart')).ResultChart }));

/**
 * Runs SQL over the store. The query that ran and how its result is shown are kept in the address, so that it can be shared; who opens such an address sees
 * the result.
 */
export function SqlPage() {
  useTitle('SQL');
  const [search, setSearch] = useSearchParams();
  const [query, setQuery] = useState(
    () => search.get('query') ?? sessionStorage.getItem(STORAGE_KEY) ?? FIRST_QUERY,
  );
  const [maxRows, setMaxRows] = useState('1000');
  const schema = useSqlSchema();
  const tables = schema.data ?? NO_TABLES;
  const sql = useSql();
  const kept = useKeptQueries();
  const view = offered(VIEWS, search.get('view')) ?? 'table';
  const show = (shown: (typeof VIEWS)[number]['value'], ran: string): void => {
    setSearch({ query: ran, ...(shown === 'chart' && { view: 'chart' }) }, { replace: true });
  };

  const run = (asked = query): void => {
    sessionStorage.setItem(STORAGE_KEY, asked);
    show(view, asked);
    const onSuccess = ({ numRows }: { readonly numRows: number }) => {
      kept.addRan({ query: asked, at: new Date().toISOString(), numRows });
    };
    sql.mutate({ query: asked, maxRows: Number(maxRows) }, { onSuccess });
  };
  const pick = (picked: string): void => {
    setQuery(picked);
    run(picked);
  };

  const opened = useRef(search.get('query'));
  const runOpened = useRef(run);
  useEffect(() => {
    if (opened.current !== null) runOpened.current(opened.current);
    opened.current = null;
  }, []);

  return (
    <>
      <div className={page.head}>
        <h1>SQL</h1>
        <p className={page.subtle}>ClickHouse SQL over all recorded events, read-only</p>
      </div>
      <div className={styles.layout}>
        <div className={page.stack}>
          <SqlEditor value={query} tables={tables} onChange={setQuery} onRun={() => run()} />
          <div className={styles.toolbar}>
            <button
              type="button"
              className={controls.primary}
              onClick={() => {
                run();
              }}
              disabled={sql.isPending || query.trim() === ''}
            >
              {sql.isPending ? 'Running…' : 'Run'}
            </button>
            <kbd className={styles.keys}>Ctrl+Enter</kbd>
            <Select label="Row limit" value={maxRows} options={ROW_LIMITS} onChange={setMaxRows} />
            <Segments
              label="Result as"
              value={view}
              options={VIEWS}
              onChange={(shown) => {
                show(shown, search.get('query') ?? query);
              }}
            />
            <span className={styles.grow} />
            {sql.data && <ResultSummary result={sql.data} />}
          </div>
          {sql.isError && <ErrorState error={sql.error} />}
          {sql.data && view === 'table' && <ResultTable result={sql.data} />}
          {sql.data && view === 'chart' && (
            <Suspense fallback={<Loading label="Loading the chart" />}>
              <ResultChart result={sql.data} />
            </Suspense>
          )}
        </div>
        <SqlSidebar tables={tables} error={schema.error} kept={kept} query={query} onPick={pick} />
      </div>
    </>
  );
}
