import { expect, it } from 'vitest';
import { MAX_HISTORY, withRan, type RanQuery } from './kept-queries';

const ran = (query: string): RanQuery => ({ query, at: '2026-11-29T10:00:00Z', numRows: 1 });

it('queries are in the history once, newest first, and not without end', () => {
  const history = ['a', 'b', 'a', 'c'].map(ran).reduce<readonly RanQuery[]>(withRan, []);
  expect(history.map(({ query }) => query)).toEqual(['c', 'a', 'b']);
  const long = Array.from({ length: MAX_HISTORY + 5 }, (_, i) => ran(`${i}`)).reduce<readonly RanQuery[]>(
    withRan,
    [],
  );
  expect(long).toHaveLength(MAX_HISTORY);
  expect(long[0].query).toBe(`${MAX_HISTORY + 4}`);
});
