import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inertCsv } from './inert-csv.js';

/** Fields as ClickHouse writes them: texts in quotes, numbers without. */
function csvOf(rows: readonly (readonly (string | number)[])[]): string {
  const field = (value: string | number) =>
    typeof value === 'number' ? `${value}` : `"${value.replaceAll('"', '""')}"`;
  return rows.map((row) => `${row.map(field).join(',')}\n`).join('');
}

async function* piecesOf(whole: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(whole);
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

describe('inertCsv', () => {
  it('puts an apostrophe before texts that a spreadsheet takes for formulas, and before nothing else', async () => {
    const rows = [
      ['=1+1', '+x', '-1', '@x', -1, '\t=1', 'a=1', '', '"=1', 'x,"=1'],
      ['a\n=1', '"', '=', '""=', 1.5, '日=1', ' =1', '\r', '==', "'=1"],
    ];
    const expected = rows.map((row) =>
      row.map((value) => (typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value)),
    );
    for (const size of [1, 2, 3, 1000])
      expect(await text(inertCsv(piecesOf(csvOf(rows), size)))).toBe(csvOf(expected));
  });

  it('does so for any texts, however the bytes are cut', async () => {
    const value = fc.oneof(
      fc.string({ unit: fc.constantFrom('=', '+', '"', ',', '\n', '-', 'a', '\t') }),
      fc.integer(),
    );
    const table = fc.array(fc.array(value, { minLength: 1, maxLength: 4 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 9 }), async (rows, size) => {
        const expected = rows.map((row) =>
          row.map((each) => (typeof each === 'string' && /^[=+\-@\t\r]/.test(each) ? `'${each}` : each)),
        );
        expect(await text(inertCsv(piecesOf(csvOf(rows), size)))).toBe(csvOf(expected));
      }),
    );
  });
});
