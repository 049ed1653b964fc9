import { describe, expect, it } from 'vitest';
import { formatCompact, formatCount, formatNumber, formatPercent } from './numbers';

describe('formatNumber', () => {
  it('keeps three significant digits and drops trailing zeros', () => {
    expect(formatNumber(0.123456)).toBe('0.123');
    expect(formatNumber(1.5)).toBe('1.5');
    expect(formatNumber(42)).toBe('42');
  });

  it('never rounds away digits of a whole number below 10,000', () => {
    expect(formatNumber(1234)).toBe('1234');
  });

  it('writes very small and very large values compactly', () => {
    expect(formatNumber(0.00001234)).toBe('1.2e−5');
    expect(formatNumber(123_456)).toBe('123k');
  });

  it('uses a real minus sign, and a dash where there is no value', () => {
    expect(formatNumber(-0.5)).toBe('−0.5');
    expect(formatNumber(null)).toBe('–');
    expect(formatNumber(Number.NaN)).toBe('–');
  });
});

describe('other formats', () => {
  it('shortens thousands and millions', () => {
    expect(formatCompact(12_345)).toBe('12.3k');
    expect(formatCompact(1_234_567)).toBe('1.23M');
    expect(formatCompact(999)).toBe('999');
  });

  it('writes fractions as percent and counts with separators', () => {
    expect(formatPercent(0.913)).toBe('91.3 %');
    expect(formatCount(1_234_567)).toBe('1,234,567');
  });
});
