import { expect, it } from 'vitest';
import { keepItems, keptItems, readKept, withNamed } from './kept-list';

it('items are kept under one name each, in the order of names', () => {
  const saved = withNamed(withNamed(withNamed([], { name: 'b', query: '1' }), { name: 'a', query: '2' }), {
    ...{ name: 'b', query: '3' },
  });
  expect(saved).toEqual([
    { name: 'a', query: '2' },
    { name: 'b', query: '3' },
  ]);
});

it('a list is there until the page is left in a browser that keeps nothing', () => {
  // Node has no place for it.
  keepItems('pins', [{ name: 'a' }]);
  expect(keptItems('pins', { name: 'string' })).toEqual([{ name: 'a' }]);
  expect(keptItems('others', { name: 'string' })).toEqual([]);
});

it('a kept list is read without what another version wrote otherwise', () => {
  const fields = { name: 'string', query: 'string' };
  expect(readKept(null, fields)).toEqual([]);
  expect(readKept('{"name":"a"}', fields)).toEqual([]);
  expect(readKept('[{"name":"a","query":"1"},{"name":"b"},null,3]', fields)).toEqual([
    { name: 'a', query: '1' },
  ]);
  expect(readKept('[{', fields)).toEqual([]);
});
