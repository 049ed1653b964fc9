import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
  type SortingState,
} from '@tanstack/react-table';
import { useMemo, useState, type ReactNode } from 'react';

/** By which rows are sorted; a column's empty values come last in both orders. */
export type SortValue = string | number | boolean | null | undefined;

export interface TableColumn<Row> {
  readonly label: string;
  /** Explains the label. */
  readonly title?: string;
  /** Aligned right, with digits of equal width. */
  readonly isNumeric?: boolean;
  readonly isMuted?: boolean;
  /** By which the API sorts rows, where the table has `onSort`. */
  readonly sortKey?: string;
  /** By which the page itself sorts rows, where it has all of them. */
  readonly value?: (row: Row) => SortValue;
  readonly cell: (row: Row) => ReactNode;
}

export interface TableSort {
  readonly key: string;
  readonly order: 'ascending' | 'descending';
}

export interface TableModelProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** By the row number unless given. */
  readonly keyOf?: (row: Row) => string;
  /** How the API sorted the rows. */
  readonly sort?: TableSort;
  /**
   * Asks the API for another sort, whose first press on a header is descending and which a table always has. Without it, the page sorts by columns with a `value`: numbers
   * descending first, words ascending first, and a third press gives the rows their own order back, as a query has one.
   */
  readonly onSort?: (sort: TableSort) => void;
  /** Of the columns that are left out, as `columnIds` names them. */
  readonly hiddenIds?: readonly string[];
}

/** A column that is shown. */
export interface ShownColumn<Row> extends TableColumn<Row> {
  readonly id: string;
  readonly order: TableSort['order'] | null;
  /** Sorts by the column, then the other way round; null where it can't be sorted by. */
  readonly toggleSort: (() => void) | null;
}

/** TanStack's rows are objects, and those of a query are lists. */
interface KeptRow<Row> {
  readonly row: Row;
}

const FEATURES = tableFeatures({
  columnVisibilityFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});

/** The columns that are shown and the rows in their order, each with its key. */
export function useTableModel<Row>(props: TableModelProps<Row>) {
  const { columns, rows, keyOf, sort, onSort, hiddenIds = [] } = props;
  const [ownSorting, setOwnSorting] = useState<SortingState>([]);
  const ids = useMemo(() => columnIds(columns), [columns]);
  const table = useTable({
    features: FEATURES,
    columns: useMemo(() => columns.map((column, c) => makeDefinition(column, ids[c])), [columns, ids]),
    data: useMemo(() => rows.map((row) => ({ row })), [rows]),
    getRowId: ({ row }, index) => keyOf?.(row) ?? `${index}`,
    enableMultiSort: false,
    manualSorting: onSort !== undefined,
    state: {
      sorting: onSort ? toSorting(sort) : ownSorting,
      columnVisibility: Object.fromEntries(hiddenIds.map((id) => [id, false])),
    },
    onSortingChange: setOwnSorting,
  });
  const shown = ids.flatMap((id, c): ShownColumn<Row> | [] => {
    const column = table.getColumn(id);
    if (column?.getIsVisible() !== true) return [];
    const order = ORDERS[`${column.getIsSorted()}`];
    const askApi = () => {
      onSort?.({ key: id, order: order === 'descending' ? 'ascending' : 'descending' });
    };
    const canSort = (onSort ? columns[c].sortKey : columns[c].value) !== undefined;
    return {
      ...columns[c],
      id,
      order,
      toggleSort: canSort ? (onSort ? askApi : () => column.toggleSorting()) : null,
    };
  });
  return {
    columns: shown,
    rows: table.getRowModel().rows.map(({ id, original: { row } }) => ({ id, row })),
  };
}

const ORDERS = { asc: 'ascending', desc: 'descending', false: null } as const;

function toSorting(sort: TableSort | undefined): SortingState {
  return sort === undefined ? [] : [{ id: sort.key, desc: sort.order === 'descending' }];
}

function makeDefinition<Row>(
  { sortKey, value }: TableColumn<Row>,
  id: string,
): ColumnDef<typeof FEATURES, KeptRow<Row>> {
  return {
    id,
    accessorFn: ({ row }) => sortable(value?.(row)),
    enableSorting: sortKey !== undefined || value !== undefined,
    sortUndefined: 'last',
    sortFn: (a, b, column) => compareValues(a.getValue<SortValue>(column), b.getValue<SortValue>(column)),
  };
}

/** The key of the API's sort, or else the label; of columns with the same label, the later ones with their number. */
export function columnIds<Row>(columns: readonly TableColumn<Row>[]): readonly string[] {
  const seen = new Map<string, number>();
  return columns.map(({ sortKey, label }) => {
    const name = sortKey ?? label;
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return number === 1 ? name : `${name} (${number})`;
  });
}

function sortable(value: SortValue): SortValue {
  return value === null || value === '' || Number.isNaN(value) ? undefined : value;
}

const WORDS = new Intl.Collator(undefined, { numeric: true });

/** Compares numbers by size, and everything else as words, in which a stretch of digits counts as a number. */
export function compareValues(a: SortValue, b: SortValue): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : WORDS.compare(`${a}`, `${b}`);
}
