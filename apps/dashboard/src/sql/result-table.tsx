import { useMemo } from 'react';
import { Link } from 'react-router';
import type { SqlResult } from '../api/schema';
import { EmptyState } from '../components/notice';
import table from '../components/table.module.css';
import { formatCount } from '../format/numbers';
import { fieldText } from './csv';
import styles from './result-table.module.css';

const MAX_SHOWN_ROWS = 1_000;
const MAX_SHOWN_CHARACTERS = 300;
const NUMERIC_TYPE = /^(Nullable\()?(LowCardinality\()?(Nullable\()?(U?Int|Float|Decimal)/;

/** Rows of a query; long results and long values are cut. */
export function ResultTable({ result }: { readonly result: SqlResult }) {
  const isNumeric = useMemo(
    () => result.columns.map(({ type }) => NUMERIC_TYPE.test(type)),
    [result.columns],
  );
  if (result.rows.length === 0)
    return <EmptyState title="No rows">The query succeeded and returned nothing.</EmptyState>;
  const shown = result.rows.slice(0, MAX_SHOWN_ROWS);
  return (
    <>
      <div className={`${table.frame} ${styles.frame}`} tabIndex={0} role="region" aria-label="Query result">
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
      {result.rows.length > MAX_SHOWN_ROWS && (
        <p className={styles.note}>
          Showing the first {formatCount(MAX_SHOWN_ROWS)} of {formatCount(result.rows.length)} rows; the CSV
          file has all of them.
        </p>
      )}
    </>
  );
}

/** Address of the run or episode that a cell names; null for other cells, and for an episode without its `run_id`. */
function addressOf({ columns }: SqlResult, row: readonly unknown[], column: number): string | null {
  const { name } = columns[column];
  const value = row[column];
  if (typeof value !== 'string' || value === '') return null;
  if (name === 'run_id') return `/runs/${value}`;
  const runId = row[columns.findIndex((one) => one.name === 'run_id')];
  return name === 'episode_id' && typeof runId === 'string' ? `/runs/${runId}/episodes/${value}` : null;
}

interface CellProps {
  readonly value: unknown;
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
  const isLong = text.length > MAX_SHOWN_CHARACTERS;
  return (
    <td
      className={isNumeric ? table.number : styles.cell}
      title={isLong ? `${formatCount(text.length)} characters` : undefined}
    >
      {isLong ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text}
    </td>
  );
}
