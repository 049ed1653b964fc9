import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { takeLists } from './take-lists.js';

function chunkOf(lists: readonly number[][]): { offsets: Int32Array; values: Int32Array } {
  const offsets = new Int32Array(lists.length + 1);
  lists.forEach((list, i) => (offsets[i + 1] = offsets[i] + list.length));
  return { offsets, values: Int32Array.from(lists.flat()) };
}

describe('takeLists', () => {
  it('copies the rows asked for, wherever the chunks are cut', () => {
    const lists = fc.array(fc.array(fc.integer(), { maxLength: 4 }), { minLength: 1, maxLength: 20 });
    const cases = lists.chain((all) =>
      fc.record({
        all: fc.constant(all),
        cuts: fc.array(fc.nat(all.length), { maxLength: 4 }),
        rows: fc.array(fc.nat(all.length - 1), { maxLength: 30 }),
        ascending: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(cases, ({ all, cuts, rows, ascending }) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), all.length];
        const chunks = edges.slice(1).map((edge, i) => chunkOf(all.slice(edges[i], edge)));
        const asked = ascending ? rows.toSorted((a, b) => a - b) : rows;
        const { offsets, values } = takeLists(chunks, asked, Int32Array);
        const taken = asked.map((_, i) => [...values.subarray(offsets[i], offsets[i + 1])]);
        expect(taken).toEqual(asked.map((row) => all[row]));
        expect(values).toHaveLength(offsets[asked.length]);
      }),
    );
  });

  it('refuses a row beyond the last', () => {
    expect(() => takeLists([chunkOf([[1], [2]])], [2], Int32Array)).toThrow('row is 2; there are 2');
    expect(takeLists([], [], Int32Array).offsets).toEqual(Int32Array.of(0));
  });
});
