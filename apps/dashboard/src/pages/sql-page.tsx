import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { useSql, useSqlSchema } from '../api/queries';
import type { SqlResult, SqlTable } from '../api/types';
import controls from '../components/controls.module.css';
import { ErrorState } from '../components/notice';
import { Select } from '../components/select';
import { useTitle } from '../components/use-title';
import { formatCount } from '../format/numbers';
import { formatDuration } from '../format/times';
import { toCsv } from '../sql/csv';
import { EXAMPLES } from '../sql/examples';
import { ResultTable } from '../sql/result-table';
import { SqlEditor } from '../sql/sql-editor';
import page from './page.module.css';
import styles from './sql-page.module.css';

const STORAGE_KEY = 'retrace.sql';
const NO_TABLES: readonly SqlTable[] = [];
const ROW_LIMITS = ['100', '1000', '10000'].map((value) => ({ value, label: value }));

export function SqlPage() {
  useTitle('SQL');
  const [search, setSearch] = useSearchParams();
  const [query, setQuery] = useState(
    () => search.get('query') ?? sessionStorage.getItem(STORAGE_KEY) ?? EXAMPLES[0].query,
  );
  const [maxRows, setMaxRows] = useState('1000');
  const schema = useSqlSchema();
  const sql = useSql();

  const run = (): void => {
    sessionStorage.setItem(STORAGE_KEY, query);
    // The address of a query that ran can be shared.
    setSearch({ query }, { replace: true });
    sql.mutate({ query, maxRows: Number(maxRows) });
  };

  return (
    <>
      <div className={page.head}>
        <h1>SQL</h1>
        <p className={page.subtle}>ClickHouse SQL over every event, read-only.</p>
      </div>
      <div className={styles.layout}>
        <div className={page.stack}>
          <SqlEditor value={query} tables={schema.data ?? NO_TABLES} onChange={setQuery} onRun={run} />
          <div className={styles.toolbar}>
            <button
              type="button"
              className={controls.primary}
              onClick={run}
              disabled={sql.isPending || query.trim() === ''}
            >
              {sql.isPending ? 'Running…' : 'Run'}
            </button>
            <kbd className={styles.keys}>Ctrl Enter</kbd>
            <Select label="Rows at most" value={maxRows} options={ROW_LIMITS} onChange={setMaxRows} />
            <span className={styles.grow} />
            {sql.data && <ResultFacts result={sql.data} />}
          </div>
          {sql.isError && <ErrorState error={sql.error} />}
          {sql.data && <ResultTable result={sql.data} />}
        </div>
        <aside className={page.stack}>
          <section className={page.card} aria-label="Examples">
            <h2>Examples</h2>
            <ul className={styles.list}>
              {EXAMPLES.map((example) => (
                <li key={example.title}>
                  <button
                    type="button"
                    className={styles.item}
                    onClick={() => {
                      setQuery(example.query);
                    }}
                  >
                    {example.title}
                  </button>
                </li>
              ))}
            </ul>
          </section>
          <section className={page.card} aria-label="Tables">
            <h2>Tables</h2>
            {schema.isError && <p className={page.subtle}>{schema.error.message}</p>}
            {(schema.data ?? NO_TABLES).map((one) => (
              <details key={one.name} className={styles.table}>
                <summary>{one.name}</summary>
                <ul>
                  {one.columns.map((column) => (
                    <li key={column.name}>
                      <code>{column.name}</code> <span title={column.type}>{column.type}</span>
                    </li>
                  ))}
                </ul>
              </details>
            ))}
          </section>
        </aside>
      </div>
    </>
  );
}

function ResultFacts({ result }: { readonly result: SqlResult }) {
  return (
    <>
      <span className={page.subtle}>
        {formatCount(result.numRows)} rows in {formatDuration(result.elapsedMs)}
        {result.truncated && ' · cut at the row limit'}
      </span>
      <button
        type="button"
        className={controls.button}
        onClick={() => {
          download('retrace.csv', toCsv(result));
        }}
      >
        Download CSV
      </button>
    </>
  );
}

function download(fileName: string, csv: string): void {
  const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
