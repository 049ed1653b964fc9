import { cutToWidth, shownText, measureWidth } from './shown-text.js';

export type Cell = string | number | boolean | null | readonly unknown[] | object;

const GAP = '  ';
/** A column is cut to no less. */
const MIN_WIDTH = 8;

/**
 * Renders a table with text on the left and numbers on the right of their columns, each row one line.
 *
 * @param width columns of the terminal, which the widest cells of text are cut to; by default that of stdout, and none where stdout is no terminal
 */
export function renderTable(
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  width: number = terminalWidth(),
): string {
  const isNumeric = columns.map(
    (_, c) => rows.length > 0 && rows.every((row) => typeof (row[c] ?? 0) === 'number'),
  );
  const names = columns.map(shownText);
  const texts = rows.map((row) => row.map(renderCell));
  const whole = names.map((name, c) =>
    texts.reduce((most, row) => Math.max(most, measureWidth(row[c])), measureWidth(name)),
  );
  const widths = fitWidths(whole, isNumeric, width);
  const renderRow = (cells: readonly string[]) =>
    cells
      .map((cell, c) => pad(cutToWidth(cell, widths[c]), widths[c], isNumeric[c]))
      .join(GAP)
      .trimEnd();
  return [renderRow(names), widths.map((each) => '─'.repeat(each)).join(GAP), ...texts.map(renderRow)].join(
    '\n',
  );
}

/** Renders a table with a column for each field of the first record. */
export function renderRecords(records: readonly object[]): string {
  const columns = Object.keys(records[0] ?? {});
  return renderTable(
    columns,
    records.map((record) => columns.map((name) => (record as Record<string, Cell>)[name] ?? null)),
  );
}

function terminalWidth(): number {
  // A terminal that does not tell its size says 0.
  return process.stdout.isTTY ? process.stdout.columns || Infinity : Infinity;
}

/** Narrows the widest columns of text until the table fits; a table of many columns may not. */
function fitWidths(whole: readonly number[], isNumeric: readonly boolean[], width: number): number[] {
  const widths = [...whole];
  const room = width - GAP.length * (widths.length - 1);
  for (let over = sum(widths) - room; over > 0; over = sum(widths) - room) {
    const texts = widths.filter((each, c) => !isNumeric[c] && each > MIN_WIDTH);
    if (texts.length === 0) break;
    const widest = Math.max(...texts);
    const next = Math.max(MIN_WIDTH, ...texts.filter((each) => each < widest));
    const alike = widths.flatMap((each, c) => (!isNumeric[c] && each === widest ? [c] : []));
    const cut = Math.min(widest - next, Math.ceil(over / alike.length)) || 1;
    for (const c of alike) widths[c] -= cut;
  }
  return widths;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function pad(cell: string, width: number, isNumeric: boolean): string {
  const space = ' '.repeat(Math.max(0, width - measureWidth(cell)));
  return isNumeric ? space + cell : cell + space;
}

function renderCell(value: Cell): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return shownText(text.replaceAll('\r\n', '\n')).replaceAll('\n', '⏎');
}
