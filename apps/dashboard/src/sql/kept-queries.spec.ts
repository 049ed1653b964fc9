import { describe, expect, it } from 'vitest';
import { MAX_HISTORY, readKept, withRan, withSaved, type RanQuery } from './kept-queries';

const ran = (query: string): RanQuery => ({ query, at: '2026-11-29T10:00:00Z', numRows: 1 });

describe('queries that the browser keeps', () => {
  it('are in the history once, newest first, and not without end', () => {
    const history = ['a', 'b', 'a', 'c'].map(ran).reduce<readonly RanQuery[]>(withRan, []);
    expect(history.map(({ query }) => query)).toEqual(['c', 'a', 'b']);
    const long = Array.from({ length: MAX_HISTORY + 5 }, (_, i) => ran(`${i}`)).reduce<readonly RanQuery[]>(
      withRan,
      [],
    );
    expect(long).toHaveLength(MAX_HISTORY);
    expect(long[0].query).toBe(`${MAX_HISTORY + 4}`);
  });

  it('are saved under one name each, in the order of names', () => {
    const saved = withSaved(withSaved(withSaved([], { name: 'b', query: '1' }), { name: 'a', query: '2' }), {
      ...{ name: 'b', query: '3' },
    });
    expect(saved).toEqual([
      { name: 'a', query: '2' },
      { name: 'b', query: '3' },
    ]);
  });

  it('are read without what another version wrote otherwise', () => {
    const fields = { name: 'string', query: 'string' };
    expect(readKept(null, fields)).toEqual([]);
    expect(readKept('{"name":"a"}', fields)).toEqual([]);
    expect(readKept('[{"name":"a","query":"1"},{"name":"b"},null,3]', fields)).toEqual([
      { name: 'a', query: '1' },
    ]);
    expect(readKept('[{', fields)).toEqual([]);
  });
});
