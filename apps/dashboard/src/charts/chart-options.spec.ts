import { describe, expect, it } from 'vitest';
import { formatAxisValue, formatPower, padRange, type ValueFormat } from './chart-options';

describe('formatAxisValue', () => {
  it.each<[ValueFormat, number[], string[]]>([
    ['number', [2.975, 2.98, 2.985], ['2.975', '2.98', '2.985']],
    ['number', [-0.5, 0, 0.5], ['−0.5', '0', '0.5']],
    ['number', [0.0005, 0.001], ['5e−4', '0.001']],
    ['number', [2.75e-4, 3e-4, 3.25e-4], ['2.75e−4', '3e−4', '3.25e−4']],
    ['fraction', [0.9985, 0.999, 0.9995], ['99.85%', '99.9%', '99.95%']],
    ['compact', [12_300, 12_350, 12_400], ['12.3k', '12.35k', '12.4k']],
    ['compact', [0, 1, 2], ['0', '1', '2']],
  ])('%s: gives the ticks %j different labels', (format, ticks, labels) => {
    const increment = ticks[1] - ticks[0];
    expect(ticks.map((tick) => formatAxisValue(tick, format, increment))).toEqual(labels);
  });
});

describe('padRange', () => {
  it.each([
    [null, null, [0, 1]],
    [0, 0, [0, 1]],
    [0, 1, [0, 1.08]],
    [-1, 1, [-1.16, 1.16]],
    [2, 2, [1.8, 2.2]],
    [-2, -2, [-2.2, -1.8]],
  ])('gives data from %s to %s a margin', (min, max, range) => {
    const [low, high] = padRange(undefined as never, min, max);
    expect(low).toBeCloseTo(range[0], 12);
    expect(high).toBeCloseTo(range[1], 12);
  });

  it('draws noise of the last bit of a float32 as a flat line', () => {
    const value = 2.384185791015625e-7;
    const [low, high] = padRange(undefined as never, value, value * (1 + 2 ** -22));
    expect(low).toBeCloseTo(value * 0.9, 12);
    expect(high).toBeCloseTo(value * 1.1, 12);
  });
});

describe('formatPower', () => {
  it('labels the powers of ten', () => {
    expect([0.001, 0.002, 0.1, 1, 5, 1000].map(formatPower)).toEqual(['0.001', '', '0.1', '1', '', '1000']);
  });
});
