import { describe, expect, it } from 'vitest';
import { toCsv } from './csv';

describe('toCsv', () => {
  it('writes a header, and quotes fields with commas, quotes or line breaks', () => {
    const columns = [
      { name: 'action', type: 'String' },
      { name: 'n', type: 'UInt64' },
    ];
    expect(
      toCsv({
        columns,
        rows: [
          ['say "hi", twice', 2],
          ['two\nlines', null],
        ],
      }),
    ).toBe('action,n\r\n"say ""hi"", twice",2\r\n"two\nlines",\r\n');
  });

  it('writes no text that a spreadsheet takes for a formula; numbers stay', () => {
    const columns = ['a', 'b', 'c', 'd', '=e'].map((name) => ({ name, type: 'String' }));
    const rows = [
      ['=1+1', '+x', '-1', '@SUM(A1)', -1],
      ['\t=1', 'a=1', '', null, '"=1'],
    ];
    expect(toCsv({ columns, rows }).split('\r\n')).toEqual([
      "a,b,c,d,'=e",
      "'=1+1,'+x,'-1,'@SUM(A1),-1",
      `'\t=1,a=1,,,"""=1"`,
      '',
    ]);
  });

  it('writes arrays as JSON', () => {
    expect(toCsv({ columns: [{ name: 'ids', type: 'Array(Int32)' }], rows: [[[1, 2]]] })).toBe(
      'ids\r\n"[1,2]"\r\n',
    );
  });
});
