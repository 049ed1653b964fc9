import type { SqlTable } from '../api/schema';
import page from '../pages/page.module.css';
import { EXAMPLES } from './examples';
import styles from './sql-sidebar.module.css';

interface SqlSidebarProps {
  readonly tables: readonly SqlTable[];
  /** Why the tables could not be read. */
  readonly error: Error | null;
  readonly onExample: (query: string) => void;
}

/** Example queries, and the tables with their columns. */
export function SqlSidebar({ tables, error, onExample }: SqlSidebarProps) {
  return (
    <aside className={page.stack}>
      <section className={page.card} aria-label="Examples">
        <h2>Examples</h2>
        <ul className={styles.list}>
          {EXAMPLES.map(({ title, query }) => (
            <li key={title}>
              <button
                type="button"
                className={styles.item}
                onClick={() => {
                  onExample(query);
                }}
              >
                {title}
              </button>
            </li>
          ))}
        </ul>
      </section>
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
