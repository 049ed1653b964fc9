import type { SqlResult, SqlValue } from '../api/types';

/** The result as RFC 4180 CSV: header, CRLF, quotes doubled; null is an empty field, arrays and maps are JSON. */
export function toCsv({ columns, rows }: Pick<SqlResult, 'columns' | 'rows'>): string {
  const lines = [
    columns.map(({ name }) => quote(name)),
    ...rows.map((row) => row.map((value) => quote(fieldText(value)))),
  ];
  return lines.map((fields) => `${fields.join(',')}\r\n`).join('');
}

/** A value of a result as text. */
export function fieldText(value: SqlValue): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
