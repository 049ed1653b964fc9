import { describe, expect, it } from 'vitest';
import { formatCompact, formatCost, formatCount, formatNumber, formatPercent } from './numbers';

describe('formatNumber', () => {
  it('writes three significant digits without trailing zeros', () => {
    expect(formatNumber(0.123456)).toBe('0.123');
    expect(formatNumber(1.5)).toBe('1.5');
    expect(formatNumber(42)).toBe('42');
  });

  it('keeps all digits of a whole number below 10,000', () => {
    expect(formatNumber(1234)).toBe('1234');
  });

  it('writes values below 0.001 with an exponent and values from 10,000 on with a unit', () => {
    expect(formatNumber(0.00001234)).toBe('1.2e−5');
    expect(formatNumber(-0.0005)).toBe('−5e−4');
    expect(formatNumber(123_456)).toBe('123k');
  });

  it('uses a minus sign (U+2212), and a dash for a missing value', () => {
    expect(formatNumber(-0.5)).toBe('−0.5');
    expect(formatNumber(null)).toBe('–');
    expect(formatNumber(Number.NaN)).toBe('–');
  });
});

describe('formatCost', () => {
  it('writes cents, and four digits of less', () => {
    expect(formatCost(1.25)).toBe('$1.25');
    expect(formatCost(0)).toBe('$0.00');
    expect(formatCost(0.00424)).toBe('$0.0042');
  });
});

describe('formatCompact', () => {
  it('shortens thousands to k and millions to M', () => {
    expect(formatCompact(12_345)).toBe('12.3k');
    expect(formatCompact(1_234_567)).toBe('1.23M');
    expect(formatCompact(999)).toBe('999');
  });
});

describe('formatPercent', () => {
  it('writes a fraction as a percentage without a space', () => {
    expect(formatPercent(0.913)).toBe('91.3%');
  });
});

describe('formatCount', () => {
  it('puts commas between thousands', () => {
    expect(formatCount(1_234_567)).toBe('1,234,567');
  });
});
