import type { SqlResult } from '../api-types/schema';
import { DataTable, MAX_WHOLE_ROWS } from '../components/data-table';
import { Link } from '../components/link';
import { EmptyState } from '../components/notice';
import type { SortValue, TableColumn } from '../components/table-model';
import table from '../components/table.module.css';
import { formatCount } from '../format/numbers';
import { fieldText } from '../format/csv';
import { isNumericType } from './column-types';
import styles from './result-table.module.css';

const MAX_SHOWN_CHARACTERS = 300;

interface ResultTableProps {
  readonly result: SqlResult;
  /** Query that it answers. */
  readonly query: string;
}

/** Rows of a query; long values are cut. */
export function ResultTable({ result, query }: ResultTableProps) {
  if (result.rows.length === 0) {
    return (
      <EmptyState title="No rows">
        The query succeeded and returned nothing.
        {query.includes('update_tokens') &&
          ' A run has rows in update_tokens only where its recipe has "updateTokens": true.'}
      </EmptyState>
    );
  }
  const columns = result.columns.map(({ name, type }, c): TableColumn<readonly unknown[]> => ({
    label: name,
    title: type,
    isNumeric: isNumericType(type),
    value: (row) => readSortValue(row[c], type),
    cell: (row) => <Value value={row[c]} to={readAddress(result, row, c)} />,
  }));
  return (
    <>
      <DataTable label="Query result" columns={columns} rows={result.rows} className={styles.frame} />
      {result.truncated && (
        <p className={styles.note}>
          The query has more rows than the row limit: headers sort only the {formatCount(result.rows.length)}{' '}
          rows that are here.
        </p>
      )}
      {result.rows.length > MAX_WHOLE_ROWS && (
        <p className={styles.note}>
          The page has only the rows in view, so its search finds no others; the CSV file has all of them.
        </p>
      )}
    </>
  );
}

/** Integers of 64 bits come as text. */
function readSortValue(value: unknown, type: string): SortValue {
  if (value === null) return null;
  return isNumericType(type) ? Number(value) : fieldText(value);
}

/** Address of the run or episode that a cell names; null for other cells, and for an episode without its `run_id`. */
function readAddress({ columns }: SqlResult, row: readonly unknown[], column: number): string | null {
  const { name } = columns[column];
  const value = row[column];
  if (typeof value !== 'string' || value === '') return null;
  if (name === 'run_id') return `/runs/${value}`;
  const runId = row[columns.findIndex((one) => one.name === 'run_id')];
  return name === 'episode_id' && typeof runId === 'string' ? `/runs/${runId}/episodes/${value}` : null;
}

function Value({ value, to }: { readonly value: unknown; readonly to: string | null }) {
  if (value === null) return <span className={styles.null}>null</span>;
  const text = fieldText(value);
  if (to !== null) {
    return (
      <Link className={table.link} to={to}>
        {text}
      </Link>
    );
  }
  if (text.length <= MAX_SHOWN_CHARACTERS) return <div className={styles.text}>{text}</div>;
  return (
    <div className={styles.text} title={`${formatCount(text.length)} characters`}>
      {text.slice(0, MAX_SHOWN_CHARACTERS)}…
    </div>
  );
}
