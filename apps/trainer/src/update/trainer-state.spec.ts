import { describe, expect, it } from 'vitest';
import { scheduledEntropyCoefficient, nextEntropyFloor } from './trainer-state.js';

const floor = { target: 0.2, change: 0.01, maxCoefficient: 0.025 };

describe('the floor under the entropy', () => {
  it('raises the weight below the target, lowers it above, between 0 and the largest', () => {
    const entropies = [0.3, 0.1, 0.1, 0.1, 0.2, 0.5, 0.5, 0.5, 0.5];
    const weights: number[] = [];
    let state = null;
    for (const entropy of entropies) {
      state = nextEntropyFloor(0.005, floor, { before: state, entropy });
      weights.push(state?.coefficient ?? NaN);
    }
    const expected = [0, 0.01, 0.02, 0.025, 0.025, 0.015, 0.005, 0, 0];
    weights.forEach((weight, i) => {
      expect(weight).toBeCloseTo(expected[i], 12);
    });
  });

  it('counts only after an entropy at or below the target', () => {
    expect(scheduledEntropyCoefficient(0.005, floor, null)).toBe(0.005);
    expect(scheduledEntropyCoefficient(0.005, floor, { coefficient: 0.02, entropy: 0.2 })).toBe(0.02);
    expect(scheduledEntropyCoefficient(0.005, floor, { coefficient: 0.02, entropy: 0.21 })).toBe(0);
    expect(scheduledEntropyCoefficient(0.005, null, { coefficient: 0.02, entropy: 0.1 })).toBe(0.005);
  });

  it('stays as it was after an update that measured no entropy', () => {
    const before = { coefficient: 0.02, entropy: 0.1 };
    expect(nextEntropyFloor(0.005, floor, { before, entropy: NaN })).toBe(before);
  });
});
