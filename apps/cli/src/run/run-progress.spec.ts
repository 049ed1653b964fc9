import { describe, expect, it } from 'vitest';
import { formatFigure } from './run-progress.js';

describe('formatFigure', () => {
  it.each([
    [0.123456, '0.123'],
    [-0.00012345, '-0.000123'],
    [12345.6, '12,346'],
    [0, '0'],
    [Number.NaN, '–'],
  ])('writes %d as %s', (value, text) => {
    expect(formatFigure(value)).toBe(text);
  });
});
