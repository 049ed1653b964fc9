import { useMemo } from 'react';
import { Link } from 'react-router';
import type { SqlResult, SqlValue } from '../api/types';
import { EmptyState } from '../components/notice';
import table from '../components/table.module.css';
import { fieldText } from './csv';
import styles from './result-table.module.css';

const SHOWN_ROWS = 1_000;
const SHOWN_CHARACTERS = 300;
const NUMERIC = /^(Nullable\()?(LowCardinality\()?(Nullable\()?(U?Int|Float|Decimal)/;

export function ResultTable({ result }: { readonly result: SqlResult }) {
  const isNumeric = useMemo(() => result.columns.map(({ type }) => NUMERIC.test(type)), [result.columns]);
  if (result.rows.length === 0)
    return <EmptyState title="No rows">The query ran, and nothing matches.</EmptyState>;
  const shown = result.rows.slice(0, SHOWN_ROWS);
  return (
    <>
      <div
        className={`${table.frame} ${styles.frame}`}
        tabIndex={0}
        role="region"
        aria-label="Result of the query"
      >
        <table className={table.table}>
          <thead>
            <tr>
              {result.columns.map(({ name, type }, c) => (
                <th key={c} scope="col" className={isNumeric[c] ? table.number : undefined} title={type}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, r) => (
              <tr key={r}>
                {row.map((value, c) => (
                  <Cell key={c} value={value} isNumeric={isNumeric[c]} to={addressOf(result, row, c)} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {result.rows.length > SHOWN_ROWS && (
        <p className={styles.note}>
          The first {SHOWN_ROWS} of {result.rows.length} rows are shown; the CSV has all of them.
        </p>
      )}
    </>
  );
}

/** Page of what a cell names, where the row says enough: runs by `run_id`, episodes by `run_id` and `episode_id`. */
function addressOf({ columns }: SqlResult, row: readonly SqlValue[], column: number): string | null {
  const { name } = columns[column];
  const value = row[column];
  if (typeof value !== 'string' || value === '') return null;
  if (name === 'run_id') return `/runs/${value}`;
  const runId = row[columns.findIndex((one) => one.name === 'run_id')];
  return name === 'episode_id' && typeof runId === 'string' ? `/runs/${runId}/episodes/${value}` : null;
}

interface CellProps {
  readonly value: SqlValue;
  readonly isNumeric: boolean;
  readonly to: string | null;
}

function Cell({ value, isNumeric, to }: CellProps) {
  if (value === null) {
    return (
      <td className={`${isNumeric ? table.number : ''} ${styles.null}`}>
        <span>null</span>
      </td>
    );
  }
  const text = fieldText(value);
  if (to !== null) {
    return (
      <td>
        <Link className={table.link} to={to}>
          {text}
        </Link>
      </td>
    );
  }
  const isLong = text.length > SHOWN_CHARACTERS;
  return (
    <td
      className={isNumeric ? table.number : styles.cell}
      title={isLong ? `${text.length} characters` : undefined}
    >
      {isLong ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}
    </td>
  );
}
