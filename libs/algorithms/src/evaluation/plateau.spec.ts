import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findPlateau } from './plateau.js';

/* Expected positions are counted by hand. */

describe('findPlateau', () => {
  it.each([
    { values: [0.1, 0.2, 0.3, 0.4], patience: 2, minGain: 0, at: null },
    // The best is 0.5 at place 1; places 2 and 3 do not exceed it.
    { values: [0.1, 0.5, 0.5, 0.4, 0.9], patience: 2, minGain: 0, at: 3 },
    // The gain at place 3 begins a new count.
    { values: [0.5, 0.4, 0.4, 0.6, 0.6, 0.6], patience: 3, minGain: 0, at: null },
    { values: [0.5, 0.4, 0.4, 0.6, 0.6, 0.6, 0.6], patience: 3, minGain: 0, at: 6 },
    // Each value is larger than the one before, but only place 4 is 0.25 above the best so far.
    { values: [0, 0.125, 0.1875, 0.21875, 0.25], patience: 4, minGain: 0.25, at: null },
    { values: [0, 0.125, 0.1875, 0.21875, 0.25], patience: 3, minGain: 0.25, at: 3 },
    { values: [NaN, NaN], patience: 2, minGain: 0, at: 1 },
    { values: [NaN, 0.2, NaN, 0.2], patience: 2, minGain: 0, at: 3 },
    { values: [], patience: 1, minGain: 0, at: null },
  ])('finds $at in $values with patience $patience and minGain $minGain', ({ values, at, ...rule }) => {
    expect(findPlateau(values, rule)).toBe(at);
  });

  it('does not change with the values that come after it', () => {
    const values = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 });
    fc.assert(
      fc.property(values, values, fc.integer({ min: 1, max: 5 }), (before, after, patience) => {
        const at = findPlateau(before, { patience, minGain: 0 });
        if (at !== null) expect(findPlateau([...before, ...after], { patience, minGain: 0 })).toBe(at);
      }),
    );
  });

  it('refuses a negative gain', () => {
    expect(() => findPlateau([1], { patience: 1, minGain: -1 })).toThrow(/minGain/);
  });
});
