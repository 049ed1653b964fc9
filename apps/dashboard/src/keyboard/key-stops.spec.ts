import { expect, it } from 'vitest';
import { findNeighbour } from './key-stops';

it('goes through stops in both directions, from the first or the last, and stays at the end', () => {
  const stops = ['a', 'b', 'c'];
  expect(findNeighbour(stops, undefined, 1)).toBe('a');
  expect(findNeighbour(stops, undefined, -1)).toBe('c');
  expect(findNeighbour(stops, 'a', 1)).toBe('b');
  expect(findNeighbour(stops, 'b', -1)).toBe('a');
  expect(findNeighbour(stops, 'c', 1)).toBeNull();
  expect(findNeighbour(stops, 'gone', 1)).toBe('a');
  expect(findNeighbour([], undefined, 1)).toBeNull();
});
