import { lazy, Suspense } from 'react';
import { ColumnHeader } from './column-header';
import controls from './controls.module.css';
import { useHiddenColumns } from './kept-columns';
import styles from './table.module.css';
import { columnIds, useTableModel, type TableColumn, type TableModelProps } from './table-model';
import { VirtualRows } from './virtual-rows';

// The page shows its content first.
const ColumnsMenu = lazy(async () => ({ default: (await import('./columns-menu')).ColumnsMenu }));

/** Longer tables have only the rows in the page that are in view; the search of the browser finds no others. */
export const MAX_WHOLE_ROWS = 1_000;

interface DataTableProps<Row> extends TableModelProps<Row> {
  /** Name of the table for screen readers. */
  readonly label: string;
  /** Dims rows that are about to be replaced. */
  readonly isStale?: boolean;
  readonly className?: string;
}

interface WideTableProps<Row> extends DataTableProps<Row> {
  /** Name under which the browser keeps the columns that are hidden. */
  readonly keptAs: string;
}

/** A table of many columns, of which a reader may hide some. */
export function WideTable<Row>({ keptAs, ...props }: WideTableProps<Row>) {
  const [hiddenIds, hide] = useHiddenColumns(keptAs);
  const ids = columnIds(props.columns);
  return (
    <>
      <div className={styles.tools}>
        <Suspense fallback={<ColumnsPlaceholder />}>
          <ColumnsMenu
            columns={props.columns.map(({ label }, c) => ({ id: ids[c], label }))}
            hiddenIds={hiddenIds.filter((id) => ids.includes(id))}
            onHide={(chosen) => {
              // Columns that these rows do not have stay as they are.
              hide([...hiddenIds.filter((id) => !ids.includes(id)), ...chosen]);
            }}
          />
        </Suspense>
      </div>
      <DataTable {...props} hiddenIds={hiddenIds} />
    </>
  );
}

function ColumnsPlaceholder() {
  return (
    <button type="button" className={controls.button} disabled>
      Columns
    </button>
  );
}

/** A table with one header row, in a frame that the keyboard can scroll where the table is too wide or too high; one of more than `MAX_WHOLE_ROWS` needs a frame that `className` limits in height. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, isStale = false, className = '' } = props;
  const { columns, rows } = useTableModel(props);
  const isVirtual = rows.length > MAX_WHOLE_ROWS;
  const cellsOf = ({ row }: { readonly row: Row }) =>
    columns.map((column) => (
      <td key={column.id} className={classOf(column)}>
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
          <VirtualRows rows={rows} numColumns={columns.length} cellsOf={cellsOf} />
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

function classOf<Row>({ isNumeric, isMuted }: TableColumn<Row>): string {
  return `${isNumeric ? styles.number : ''} ${isMuted ? styles.muted : ''}`;
}
