import type { SqlResult } from '../api-types/schema';

/**
 * Formats a result as CSV (RFC 4180) with a header; null gives an empty field, arrays and maps give JSON. A text that a spreadsheet would take for a formula gets an apostrophe before it
 * (OWASP, CSV injection).
 */
export function toCsv({ columns, rows }: Pick<SqlResult, 'columns' | 'rows'>): string {
  const lines = [
    columns.map(({ name }) => quote(inert(name))),
    ...rows.map((row) =>
      row.map((value) => quote(typeof value === 'string' ? inert(value) : fieldText(value))),
    ),
  ];
  return lines.map((fields) => `${fields.join(',')}\r\n`).join('');
}

/** Text of one value: null is empty, arrays and maps are JSON. */
export function fieldText(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : `${value}`;
}

function inert(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
