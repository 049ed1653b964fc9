import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { useSql, useSqlSchema } from '../api/queries';
import type { SqlTable } from '../api/schema';
import controls from '../components/controls.module.css';
import { ErrorState } from '../components/notice';
import { Select } from '../components/select';
import { useTitle } from '../components/use-title';
import { EXAMPLES } from '../sql/examples';
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

/** Runs SQL over the store. The query that ran is kept in the address, so that it can be shared. */
export function SqlPage() {
  useTitle('SQL');
  const [search, setSearch] = useSearchParams();
  const [query, setQuery] = useState(
    () => search.get('query') ?? sessionStorage.getItem(STORAGE_KEY) ?? EXAMPLES[0].query,
  );
  const [maxRows, setMaxRows] = useState('1000');
  const schema = useSqlSchema();
  const tables = schema.data ?? NO_TABLES;
  const sql = useSql();

  const run = (): void => {
    sessionStorage.setItem(STORAGE_KEY, query);
    setSearch({ query }, { replace: true });
    sql.mutate({ query, maxRows: Number(maxRows) });
  };

  return (
    <>
      <div className={page.head}>
        <h1>SQL</h1>
        <p className={page.subtle}>ClickHouse SQL over all recorded events, read-only</p>
      </div>
      <div className={styles.layout}>
        <div className={page.stack}>
          <SqlEditor value={query} tables={tables} onChange={setQuery} onRun={run} />
          <div className={styles.toolbar}>
            <button
              type="button"
              className={controls.primary}
              onClick={run}
              disabled={sql.isPending || query.trim() === ''}
            >
              {sql.isPending ? 'Running…' : 'Run'}
            </button>
            <kbd className={styles.keys}>Ctrl+Enter</kbd>
            <Select label="Row limit" value={maxRows} options={ROW_LIMITS} onChange={setMaxRows} />
            <span className={styles.grow} />
            {sql.data && <ResultSummary result={sql.data} />}
          </div>
          {sql.isError && <ErrorState error={sql.error} />}
          {sql.data && <ResultTable result={sql.data} />}
        </div>
        <SqlSidebar tables={tables} error={schema.error} onExample={setQuery} />
      </div>
    </>
  );
}
