import type { ReactNode } from 'react';
import styles from './table.module.css';

export interface TableColumn<Row> {
  readonly label: string;
  /** Aligned right, with digits of equal width. */
  readonly isNumeric?: boolean;
  readonly isMuted?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

interface DataTableProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Dims rows that are about to be replaced. */
  readonly isStale?: boolean;
}

/** A table with one header row, which scrolls sideways where it is too wide. */
export function DataTable<Row>({ columns, rows, keyOf, isStale = false }: DataTableProps<Row>) {
  const classOf = ({ isNumeric, isMuted }: TableColumn<Row>): string =>
    `${isNumeric ? styles.number : ''} ${isMuted ? styles.muted : ''}`;
  return (
    <div className={`${styles.frame} ${isStale ? styles.busy : ''}`}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map(({ label, isNumeric }) => (
              <th key={label} scope="col" className={isNumeric ? styles.number : undefined}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.label} className={classOf(column)}>
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
