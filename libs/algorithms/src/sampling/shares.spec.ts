import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideByShare } from './shares.js';

const fresh = (shares: readonly number[]) => shares.map((share) => ({ share, numGiven: 0 }));

describe('divideByShare', () => {
  it('divides as Sainte-Laguë does: seats of 53, 24 and 23 per cent in a house of seven', () => {
    // Quotients: 53, 17.67, 10.6, 7.57 · 24, 8, 4.8 · 23, 7.67: the seven largest are 53, 24, 23, 17.67, 10.6, 8, 7.67.
    expect([...divideByShare(fresh([53, 24, 23]), 7)]).toEqual([3, 2, 2]);
  });

  it('is exact whenever the shares of the total are whole numbers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 5 }),
        (parts, times) => {
          const total = parts.reduce((sum, part) => sum + part, 0);
          const counts = divideByShare(fresh(parts.map((part) => part / total)), total * times);
          expect([...counts]).toEqual(parts.map((part) => part * times));
        },
      ),
    );
  });

  it('gives in two steps what it gives in one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }),
        fc.nat(30),
        fc.nat(30),
        (shares, first, second) => {
          const one = divideByShare(fresh(shares), first);
          const two = divideByShare(
            shares.map((share, s) => ({ share, numGiven: one[s] })),
            second,
          );
          const whole = divideByShare(fresh(shares), first + second);
          expect([...one].map((count, s) => count + two[s])).toEqual([...whole]);
        },
      ),
    );
  });

  it('passes over a source without a share, and refuses to divide among none', () => {
    expect([...divideByShare(fresh([0, 1]), 3)]).toEqual([0, 3]);
    expect([...divideByShare([], 0)]).toEqual([]);
    expect(() => divideByShare(fresh([0]), 1)).toThrow(
      expect.objectContaining({ message: 'no source has a share above 0' }),
    );
  });
});
