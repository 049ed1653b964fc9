import { describe, expect, it } from 'vitest';
import { describeAmbiguousId, findByPartOfId } from './part-of-id.js';

const IDS = ['0198c0de-aaaa', '0198c0de-bbbb', '0198c0df-bbbb', 'bbbb'];
const find = (wanted: string) => findByPartOfId(IDS, wanted, (id) => id);

describe('findByPartOfId', () => {
  it('finds an id by the whole of it, by its beginning and by its end', () => {
    expect(find('0198c0de-bbbb')).toEqual({ kind: 'found', item: IDS[1] });
    expect(find('0198c0df')).toEqual({ kind: 'found', item: IDS[2] });
    expect(find('aaaa')).toEqual({ kind: 'found', item: IDS[0] });
  });

  it('takes a whole id that is also part of others', () => {
    expect(find('bbbb')).toEqual({ kind: 'found', item: 'bbbb' });
  });

  it('returns all that a part names', () => {
    expect(find('-bbbb')).toEqual({ kind: 'ambiguous', items: [IDS[1], IDS[2]] });
  });

  it.each(['', 'aaa', '98c0', '0198c0de-cccc'])('does not find "%s"', (wanted) => {
    expect(find(wanted)).toEqual({ kind: 'unknown' });
  });
});

it('describeAmbiguousId names the last ten candidates, and counts the others', () => {
  const ids = Array.from({ length: 12 }, (_, i) => `id${i}`);
  expect(describeAmbiguousId('run "id"', ids)).toBe(
    'run "id" is ambiguous; use more characters of one of id2, id3, id4, id5, id6, id7, id8, id9, id10, id11 and 2 more',
  );
  expect(describeAmbiguousId('run "id"', ids.slice(0, 2), 40)).toBe(
    'run "id" is ambiguous; use more characters of one of id0, id1 and 38 more',
  );
});
