import type { ReactNode } from 'react';
import styles from './table.module.css';
import { VirtualRows } from './virtual-rows';

export interface TableColumn<Row> {
  readonly label: string;
  /** Shown when the pointer rests on the header. */
  readonly title?: string;
  /** Aligned right, with digits of equal width. */
  readonly isNumeric?: boolean;
  readonly isMuted?: boolean;
  /** By which rows can be sorted; without it, the column can't be. */
  readonly sortKey?: string;
  readonly cell: (row: Row) => ReactNode;
}

/** Longer tables have only the rows in the page that are in view; the search of the browser finds no others. */
export const MAX_WHOLE_ROWS = 1_000;

export interface TableSort {
  readonly key: string;
  readonly order: 'ascending' | 'descending';
}

interface DataTableProps<Row> {
  /** Name of the table for screen readers. */
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** By the row number unless given. */
  readonly keyOf?: (row: Row) => string;
  /** Dims rows that are about to be replaced. */
  readonly isStale?: boolean;
  readonly className?: string;
  /** How the rows are sorted. */
  readonly sort?: TableSort;
  readonly onSort?: (sort: TableSort) => void;
}

/** A table with one header row, in a frame that the keyboard can scroll where the table is too wide or too high; one of more than `MAX_WHOLE_ROWS` needs a frame that `className` limits in height. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, keyOf, isStale = false, className = '', sort, onSort } = props;
  const classOf = ({ isNumeric, isMuted }: TableColumn<Row>): string =>
    `${isNumeric ? styles.number : ''} ${isMuted ? styles.muted : ''}`;
  const isVirtual = rows.length > MAX_WHOLE_ROWS;
  const cellsOf = (row: Row) =>
    columns.map((column, c) => (
      <td key={c} className={classOf(column)}>
        {column.cell(row)}
      </td>
    ));
  return (
    <div
      className={`${styles.frame} ${isStale ? styles.busy : ''} ${className}`}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <table className={styles.table} aria-rowcount={isVirtual ? rows.length + 1 : undefined}>
        <thead>
          <tr aria-rowindex={isVirtual ? 1 : undefined}>
            {columns.map((column, c) => (
              <ColumnHeader key={c} {...column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        {isVirtual ? (
          <VirtualRows rows={rows} numColumns={columns.length} cellsOf={cellsOf} />
        ) : (
          <tbody>
            {rows.map((row, r) => (
              <tr key={keyOf?.(row) ?? r}>{cellsOf(row)}</tr>
            ))}
          </tbody>
        )}
      </table>
    </div>
  );
}

type ColumnHeaderProps<Row> = Pick<DataTableProps<Row>, 'sort' | 'onSort'> & TableColumn<Row>;

/** A press sorts by the column, from the most to the least; another the other way round. */
function ColumnHeader<Row>({ label, title, isNumeric, sortKey, sort, onSort }: ColumnHeaderProps<Row>) {
  const className = isNumeric ? styles.number : undefined;
  if (sortKey === undefined || !onSort)
    return (
      <th scope="col" className={className} title={title}>
        {label}
      </th>
    );
  const order = sort?.key === sortKey ? sort.order : null;
  return (
    <th scope="col" className={className} title={title} aria-sort={order ?? 'none'}>
      <button
        type="button"
        className={styles.sort}
        onClick={() => {
          onSort({ key: sortKey, order: order === 'descending' ? 'ascending' : 'descending' });
        }}
      >
        {label}
        <span aria-hidden>{order === null ? '' : order === 'ascending' ? ' ↑' : ' ↓'}</span>
      </button>
    </th>
  );
}
