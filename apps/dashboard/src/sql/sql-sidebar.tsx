import type { SqlTable } from '../api-types/schema';
import page from '../components/page.module.css';
import { EXAMPLES, type ExampleQuery } from './examples';
import { KeptQueries } from './kept-query-lists';
import type { useKeptQueries } from './kept-queries';
import { QueryButton } from './query-button';
import styles from './sql-sidebar.module.css';

interface SqlSidebarProps {
  readonly tables: readonly SqlTable[];
  /** Why the tables could not be read. */
  readonly error: Error | null;
  readonly kept: ReturnType<typeof useKeptQueries>;
  /** The query that is in the editor. */
  readonly query: string;
  /** A query runs, and the next one waits for it. */
  readonly isBusy: boolean;
  readonly onPick: (query: string) => void;
}

/** Ready-made queries, those that this browser keeps, and the tables with their columns. */
export function SqlSidebar({ tables, error, kept, query, isBusy, onPick }: SqlSidebarProps) {
  return (
    <aside className={page.stack}>
      <section className={page.card} aria-label="Questions">
        <h2>Questions</h2>
        {EXAMPLES.map(({ title, queries }) => (
          <details key={title} className={styles.group}>
            <summary>{title}</summary>
            <QueryList queries={queries} isBusy={isBusy} onPick={onPick} />
          </details>
        ))}
      </section>
      <KeptQueries kept={kept} query={query} isBusy={isBusy} onPick={onPick} />
      <section className={page.card} aria-label="Tables">
        <h2>Tables</h2>
        {error && <p className={page.subtle}>{error.message}</p>}
        {tables.map(({ name, columns }) => (
          <details key={name} className={styles.table}>
            <summary>{name}</summary>
            <ul>
              {columns.map((column) => (
                <li key={column.name}>
                  <code>{column.name}</code> <span title={column.type}>{column.type}</span>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </section>
    </aside>
  );
}

interface QueryListProps {
  readonly queries: readonly ExampleQuery[];
  readonly isBusy: boolean;
  readonly onPick: (query: string) => void;
}

function QueryList({ queries, isBusy, onPick }: QueryListProps) {
  return (
    <ul className={styles.list}>
      {queries.map(({ title, query }) => (
        <li key={title}>
          <QueryButton {...{ query, isBusy, onPick }}>{title}</QueryButton>
        </li>
      ))}
    </ul>
  );
}
