import { describe, expect, it } from 'vitest';
import { renderRecords, renderTable } from './table.js';

describe('renderTable', () => {
  it('aligns text left and numbers right', () => {
    expect(
      renderTable(
        ['name', 'count'],
        [
          ['a', 5],
          ['long name', 1000],
        ],
      ),
    ).toBe(['name       count', '─────────  ─────', 'a              5', 'long name   1000'].join('\n'));
  });

  it('shows null as an empty cell and lists as JSON, and cuts long or multi-line cells to one line', () => {
    const [, , row] = renderTable(['a', 'b', 'c'], [[null, [1, 2], `x\n${'y'.repeat(100)}`]]).split('\n');
    expect(row.trim()).toBe(`[1,2]  x⏎${'y'.repeat(57)}…`);
  });

  it('renders only the header when there are no rows', () => {
    expect(renderTable(['a', 'bb'], [])).toBe('a  bb\n─  ──');
    expect(renderRecords([])).toBe('\n');
  });
});
