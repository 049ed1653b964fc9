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

  it('shows null as an empty cell and lists as JSON, and every cell whole on one line where there is no terminal', () => {
    const [, , row] = renderTable(['a', 'b', 'c'], [[null, [1, 2], `x\n${'y'.repeat(100)}`]]).split('\n');
    expect(row.trim()).toBe(`[1,2]  x⏎${'y'.repeat(100)}`);
  });

  it('is as wide as the terminal: the widest texts are cut, numbers and short texts are not', () => {
    const cells = ['z'.repeat(100), 'y'.repeat(50), 'short', 123_456_789_012];
    const lines = renderTable(['a', 'b', 'c', 'd'], [cells], 80).split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(lines[2]).toBe(`${'z'.repeat(27)}…  ${'y'.repeat(27)}…  short  123456789012`);
  });

  it('aligns what takes two columns of a terminal, and cuts no character in half', () => {
    const rows = [['日本語🙂'], ['👩‍👩‍👧‍👦 family'], ['plain']];
    const [head, line, first, second, third] = renderTable(
      ['name', 'n'],
      rows.map((row) => [...row, 1]),
    ).split('\n');
    expect([head, line]).toEqual(['name       n', '─────────  ─']);
    expect([first, second, third]).toEqual(['日本語🙂   1', '👩‍👩‍👧‍👦 family  1', 'plain      1']);
    expect(renderTable(['a'], [['日本語日本語日本語']], 8).split('\n')[2]).toBe('日本語…');
  });

  it('shows control characters, and never sends them', () => {
    const text = renderTable(['\u001b[2J'], [['\u001b[31mred\u0007\u202e'], ['\u009b2J\ttab']]);
    expect(text.split('\n').filter((_, i) => i !== 1)).toEqual([
      '\\u{1b}[2J',
      '\\u{1b}[31mred\\u{7}\\u{202e}',
      '\\u{9b}2J\\u{9}tab',
    ]);
  });

  it('renders only the header when there are no rows', () => {
    expect(renderTable(['a', 'bb'], [])).toBe('a  bb\n─  ──');
    expect(renderRecords([])).toBe('\n');
  });
});
