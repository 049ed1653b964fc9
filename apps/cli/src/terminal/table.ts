const MAX_CELL_WIDTH = 60;

export type Cell = string | number | boolean | null | readonly unknown[] | object;

/** Renders a table with text on the left and numbers on the right of their columns; long or multi-line cells are cut to one line. */
export function renderTable(columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map(renderCell));
  const isNumeric = columns.map(
    (_, c) => rows.length > 0 && rows.every((row) => typeof (row[c] ?? 0) === 'number'),
  );
  const widths = columns.map((name, c) => Math.max(name.length, ...texts.map((row) => row[c].length)));
  const renderRow = (cells: readonly string[]) =>
    cells
      .map((cell, c) => (isNumeric[c] ? cell.padStart(widths[c]) : cell.padEnd(widths[c])))
      .join('  ')
      .trimEnd();
  return [
    renderRow(columns),
    widths.map((width) => '─'.repeat(width)).join('  '),
    ...texts.map(renderRow),
  ].join('\n');
}

/** Renders a table with a column for each field of the first record. */
export function renderRecords(records: readonly object[]): string {
  const columns = Object.keys(records[0] ?? {});
  return renderTable(
    columns,
    records.map((record) => columns.map((name) => (record as Record<string, Cell>)[name] ?? null)),
  );
}

function renderCell(value: Cell): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const line = text.replaceAll('\r', '').replaceAll('\n', '⏎');
  return line.length > MAX_CELL_WIDTH ? `${line.slice(0, MAX_CELL_WIDTH - 1)}…` : line;
}
