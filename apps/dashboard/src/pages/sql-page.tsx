import { useSqlSchema } from '../api/sql-queries';
import type { SqlTable } from '../api-types/schema';
import { Link } from '../components/link';
import controls from '../components/controls.module.css';
import { useTitle } from '../components/use-title';
import { QueryCell } from '../sql/query-cell';
import { SqlSidebar } from '../sql/sql-sidebar';
import { useSqlSession } from '../sql/use-sql-session';
import page from '../components/page.module.css';
import styles from './sql-page.module.css';

const NO_TABLES: readonly SqlTable[] = Object.freeze([]);

/** Runs SQL over the store. */
export function SqlPage() {
  useTitle('SQL');
  const { query, setQuery, runs, kept, view, setView, plot, setPlot, run, pick } = useSqlSession();
  const schema = useSqlSchema();
  const tables = schema.data ?? NO_TABLES;
  return (
    <>
      <div className={page.head}>
        <h1>SQL</h1>
        <p className={page.subtle}>ClickHouse SQL over all recorded events, read-only</p>
        <span className={page.grow} />
        <Link className={controls.buttonLink} to="notebooks">
          Notebooks
        </Link>
      </div>
      <div className={styles.layout}>
        <QueryCell
          label="SQL query"
          {...{ query, tables, runs, view, plot }}
          onChange={setQuery}
          onRun={() => void run(query)}
          onView={setView}
          onPlot={setPlot}
        />
        <SqlSidebar {...{ tables, kept, query }} error={schema.error} isBusy={runs.isBusy} onPick={pick} />
      </div>
    </>
  );
}
