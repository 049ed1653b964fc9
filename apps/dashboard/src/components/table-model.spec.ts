import { describe, expect, it } from 'vitest';
import { columnIds, compareValues } from './table-model';

describe('columnIds', () => {
  it('names columns by the key of their sort or else their label, and later ones of the same name by number', () => {
    const cell = () => null;
    const columns = [
      { label: 'Success', sortKey: 'metric:validation/success', cell },
      ...['95 %', 'Test', '95 %', '95 %'].map((label) => ({ label, cell })),
    ];
    expect(columnIds(columns)).toEqual(['metric:validation/success', '95 %', 'Test', '95 % (2)', '95 % (3)']);
  });
});

describe('compareValues', () => {
  it('sorts numbers by size, and words with the numbers in them by size, whatever their case', () => {
    expect([10, 9, -1].toSorted(compareValues)).toEqual([-1, 9, 10]);
    expect(['layer 10', 'Layer 9', 'all'].toSorted(compareValues)).toEqual(['all', 'Layer 9', 'layer 10']);
  });

  it('sorts truth as words: failures before successes', () => {
    expect([true, false].toSorted(compareValues)).toEqual([false, true]);
  });
});
