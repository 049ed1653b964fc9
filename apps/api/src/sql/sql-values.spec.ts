import { describe, expect, it } from 'vitest';
import { integerReader } from './sql-values.js';

describe('integerReader', () => {
  it('reads integers that a number holds exactly', () => {
    expect(integerReader('UInt64')('42')).toBe(42);
    expect(integerReader('Nullable(Int64)')(null)).toBeNull();
    expect(integerReader('Array(Int64)')(['1', '-2'])).toEqual([1, -2]);
  });

  it('keeps as text what a number would round', () => {
    expect(integerReader('UInt64')('18446744073709551615')).toBe('18446744073709551615');
    expect(integerReader('UInt64')('9007199254740993')).toBe('9007199254740993');
  });

  it('leaves text that looks like an integer alone', () => {
    expect(integerReader('String')('42')).toBe('42');
    expect(integerReader('Tuple(String, UInt64)')(['42', '7'])).toEqual(['42', '7']);
  });
});
