import { expect, it } from 'vitest';
import { neighbourOf } from './key-stops';

it('goes through stops in both directions, from the first or the last, and stays at the end', () => {
  const stops = ['a', 'b', 'c'];
  expect(neighbourOf(stops, undefined, 1)).toBe('a');
  expect(neighbourOf(stops, undefined, -1)).toBe('c');
  expect(neighbourOf(stops, 'a', 1)).toBe('b');
  expect(neighbourOf(stops, 'b', -1)).toBe('a');
  expect(neighbourOf(stops, 'c', 1)).toBeNull();
  expect(neighbourOf(stops, 'gone', 1)).toBe('a');
  expect(neighbourOf([], undefined, 1)).toBeNull();
});
