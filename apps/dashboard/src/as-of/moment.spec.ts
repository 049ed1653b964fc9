import { describe, expect, it } from 'vitest';
import { momentMs, readTime, withMoment } from './moment';

const EVENT = '01a22862-8c40-7a0c-9f40-73f68bc3586f';

describe('a moment that a person types', () => {
  it('is a time, by the zone of the browser where it names none', () => {
    expect(readTime('2026-11-29T17:38:05.25Z')).toBe('2026-11-29T17:38:05.25Z');
    expect(readTime('2026-11-29 17:38+01:00')).toBe('2026-11-29T17:38:00+01:00');
    expect(readTime('2026-11-29 17:38:05')).toBe(new Date(2026, 10, 29, 17, 38, 5).toISOString());
    for (const other of ['yesterday 3', '3', '2026-11-29', '17:38', 'latest@3', EVENT])
      expect(readTime(other), other).toBeNull();
  });

  it('is in UTC in an address without a zone, as the API takes it', () => {
    expect(momentMs('2026-11-29 17:38:05')).toBe(Date.UTC(2026, 10, 29, 17, 38, 5));
    expect(momentMs('2026-11-29T17:38:05.5+01:00')).toBe(Date.UTC(2026, 10, 29, 16, 38, 5, 500));
    expect(momentMs(EVENT)).toBeNaN();
    expect(momentMs('yesterday 3')).toBeNaN();
  });

  it('goes along with links that name no other', () => {
    expect(withMoment('/runs', null)).toBe('/runs');
    expect(withMoment('updates/3?view=a', EVENT)).toEqual({
      pathname: 'updates/3',
      search: `?view=a&asOf=${EVENT}`,
    });
    expect(withMoment('?asOf=2026', EVENT)).toEqual({ search: '?asOf=2026' });
  });
});
