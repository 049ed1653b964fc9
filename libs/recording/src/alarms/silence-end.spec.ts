import { describe, expect, it } from 'vitest';
import { silenceEnd } from './silence-end.js';

const NOON_US = Date.UTC(2026, 10, 30, 12) * 1000;
const HOUR_US = 3_600_000_000;

describe('silenceEnd', () => {
  it.each([
    ['now', 0],
    ['30m', HOUR_US / 2],
    ['1h', HOUR_US],
    ['90d', 90 * 24 * HOUR_US],
    ['2026-11-30T14:00:00Z', 2 * HOUR_US],
    ['2026-11-30T14:00:00+01:00', HOUR_US],
  ])('of %s is so long after it was asked for', (until, afterUs) => {
    expect(silenceEnd(until, NOON_US) - NOON_US).toBe(afterUs);
  });

  it.each([
    '',
    '0h',
    '91d',
    '1w',
    '-1h',
    '1.5h',
    'tomorrow',
    '2026-11-30T12:00:00Z',
    '2026-11-30',
    '2027-11-30T12:00:00Z',
  ])('refuses "%s"', (until) => {
    expect(() => silenceEnd(until, NOON_US)).toThrow(`until is "${until}"; must be "now", a time to come`);
  });
});
