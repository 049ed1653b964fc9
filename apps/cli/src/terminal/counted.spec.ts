import { expect, it } from 'vitest';
import { counted } from './counted.js';

it('counted: writes the singular of one only', () => {
  expect([0, 1, 1_200].map((count) => counted(count, 'episode'))).toEqual([
    ...['0 episodes', '1 episode', '1,200 episodes'],
  ]);
  expect([1, 2].map((count) => counted(count, 'policy', 'policies'))).toEqual(['1 policy', '2 policies']);
});
