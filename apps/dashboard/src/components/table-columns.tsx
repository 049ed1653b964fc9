import { formatNumber } from '../format/numbers';
import type { TableColumn } from './table-model';

type Format = (value: number | null | undefined) => string;

/** A column of numbers, which rows are sorted by; `format` writes them. */
export function numberColumn<Row>(
  label: string,
  value: (row: Row) => number | null | undefined,
  format: Format = formatNumber,
  more: Pick<TableColumn<Row>, 'title' | 'isMuted'> = {},
): TableColumn<Row> {
  return { label, isNumeric: true, value, cell: (row) => format(value(row)), ...more };
}

/** A column of words, which rows are sorted by. */
export function textColumn<Row>(label: string, value: (row: Row) => string): TableColumn<Row> {
  return { label, value, cell: value };
}

/** The same in letters of equal width, as names of metrics, fields and files are. */
export function codeColumn<Row>(label: string, value: (row: Row) => string): TableColumn<Row> {
  return { label, value, cell: (row) => <span className="mono">{value(row)}</span> };
}
