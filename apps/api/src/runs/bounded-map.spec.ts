import { expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.js';

it('a bounded map drops the entry that was set longest ago, and none when a key is set again', () => {
  const map = new BoundedMap<number>(2);
  for (const [key, value] of Object.entries({ a: 1, b: 2 })) map.set(key, value);
  map.set('a', 3);
  expect([map.size, map.get('a'), map.get('b')]).toEqual([2, 3, 2]);
  map.set('c', 4);
  expect([map.size, map.get('a'), map.get('b'), map.get('c')]).toEqual([2, 3, undefined, 4]);
  map.delete('a');
  expect([map.size, map.get('a')]).toEqual([1, undefined]);
});
