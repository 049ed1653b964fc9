import { describe, expect, it } from 'vitest';
import { formatAgo, formatDuration, formatMoment } from './times';

describe('formatDuration', () => {
  it('writes the two largest units', () => {
    expect(formatDuration(0.0004)).toBe('< 0.01 ms');
    expect(formatDuration(0.25)).toBe('0.25 ms');
    expect(formatDuration(250)).toBe('250 ms');
    expect(formatDuration(1_500)).toBe('1.5 s');
    expect(formatDuration(95_000)).toBe('1m 35s');
    expect(formatDuration(3_720_000)).toBe('1h 2m');
    expect(formatDuration(90_000_000)).toBe('1d 1h');
  });

  it('writes a dash for a missing or negative duration', () => {
    expect(formatDuration(null)).toBe('–');
    expect(formatDuration(-1)).toBe('–');
  });
});

describe('formatAgo', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  it('writes the largest unit', () => {
    expect(formatAgo('2026-01-01T23:59:58Z', now)).toBe('just now');
    expect(formatAgo('2026-01-01T23:59:30Z', now)).toBe('30 s ago');
    expect(formatAgo('2026-01-01T22:00:00Z', now)).toBe('2 h ago');
  });
});

describe('formatMoment', () => {
  it('writes a dash for text that is not a time, and for a missing time', () => {
    expect(formatMoment('not a time')).toBe('–');
    expect(formatMoment(null)).toBe('–');
  });
});
