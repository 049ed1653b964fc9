import type { ReactNode } from 'react';
import styles from './table.module.css';

export interface TableColumn<Row> {
  readonly label: string;
  /** Shown when the pointer rests on the header. */
  readonly title?: string;
  /** Aligned right, with digits of equal width. */
  readonly isNumeric?: boolean;
  readonly isMuted?: boolean;
  readonly cell: (row: Row) => ReactNode;
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
}

/** A table with one header row, in a frame that the keyboard can scroll where the table is too wide or too high. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, keyOf, isStale = false, className = '' } = props;
  const classOf = ({ isNumeric, isMuted }: TableColumn<Row>): string =>
    `${isNumeric ? styles.number : ''} ${isMuted ? styles.muted : ''}`;
  return (
    <div
      className={`${styles.frame} ${isStale ? styles.busy : ''} ${className}`}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map(({ label: header, title, isNumeric }, c) => (
              <th key={c} scope="col" className={isNumeric ? styles.number : undefined} title={title}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, r) => (
            <tr key={keyOf?.(row) ?? r}>
              {columns.map((column, c) => (
                <td key={c} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
