import { Suspense, useState } from 'react';
import controls from './controls.module.css';
import { DataTable, type DataTableProps } from './data-table';
import { useHiddenColumns } from './kept-columns';
import { lazyPart } from './lazy-part';
import styles from './table.module.css';
import { columnIds } from './table-model';

// Few visits open it.
const ColumnsMenu = lazyPart(async () => (await import('./columns-menu')).ColumnsMenu);

interface WideTableProps<Row> extends DataTableProps<Row> {
  /** Name under which the browser keeps the columns that are hidden. */
  readonly keptAs: string;
}

/** A table of many columns, of which a reader may hide some. */
export function WideTable<Row>({ keptAs, ...props }: WideTableProps<Row>) {
  const [hiddenIds, hide] = useHiddenColumns(keptAs);
  const [wasOpened, setOpened] = useState(false);
  const ids = columnIds(props.columns);
  const hiddenHere = hiddenIds.filter((id) => ids.includes(id));
  const label =
    hiddenHere.length === 0 ? 'Columns' : `Columns: ${ids.length - hiddenHere.length} of ${ids.length}`;
  const button = (
    <button
      type="button"
      className={controls.button}
      aria-haspopup="menu"
      onClick={() => {
        setOpened(true);
      }}
    >
      {label}
    </button>
  );
  return (
    <>
      <div className={styles.tools}>
        {wasOpened ? (
          <Suspense fallback={button}>
            <ColumnsMenu
              label={label}
              columns={props.columns.map((column, c) => ({ id: ids[c], label: column.label }))}
              hiddenIds={hiddenHere}
              onHide={(chosen) => {
                // Columns that these rows do not have stay as they are.
                hide([...hiddenIds.filter((id) => !ids.includes(id)), ...chosen]);
              }}
            />
          </Suspense>
        ) : (
          button
        )}
      </div>
      <DataTable {...props} hiddenIds={hiddenIds} />
    </>
  );
}
