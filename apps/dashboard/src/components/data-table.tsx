import { Suspense } from 'react';
import { ColumnHeader } from './column-header';
import { lazyPart, NotLoaded } from './lazy-part';
import styles from './table.module.css';
import { useTableModel, type TableColumn, type TableModelProps } from './table-model';

// Few tables are so long.
const VirtualRows = lazyPart(
  async () => (await import('./virtual-rows')).VirtualRows,
  ({ numColumns }) => (
    <tbody>
      <tr>
        <td colSpan={numColumns}>
          <NotLoaded />
        </td>
      </tr>
    </tbody>
  ),
);

/** Longer tables have only the rows in the page that are in view; the search of the browser finds no others. */
export const MAX_WHOLE_ROWS = 1_000;

export interface DataTableProps<Row> extends TableModelProps<Row> {
  /** Name of the table for screen readers. */
  readonly label: string;
  /** Dims rows that are about to be replaced. */
  readonly isStale?: boolean;
  readonly className?: string;
}

/** A table with one header row, in a frame that the keyboard can scroll where the table is too wide or too high; one of more than `MAX_WHOLE_ROWS` needs a frame that `className` limits in height. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, isStale = false, className = '' } = props;
  const { columns, rows } = useTableModel(props);
  const isVirtual = rows.length > MAX_WHOLE_ROWS;
  const cellsOf = ({ row }: { readonly row: Row }) =>
    columns.map((column) => (
      <td key={column.id} className={columnClass(column)}>
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
            {columns.map((column) => (
              <ColumnHeader key={column.id} {...column} />
            ))}
          </tr>
        </thead>
        {isVirtual ? (
          <Suspense fallback={<tbody />}>
            <VirtualRows
              numRows={rows.length}
              numColumns={columns.length}
              cellsOf={(position) => cellsOf(rows[position])}
            />
          </Suspense>
        ) : (
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>{cellsOf(row)}</tr>
            ))}
          </tbody>
        )}
      </table>
    </div>
  );
}

function columnClass<Row>({ isNumeric, isMuted }: TableColumn<Row>): string {
  return `${isNumeric ? styles.number : ''} ${isMuted ? styles.muted : ''}`;
}
