import { resolveRecipe } from '@retrace/config';
import { describe, expect, it } from 'vitest';
import { learningRateAt } from './step-options.js';

const { optimizer } = resolveRecipe('frozen-lake-ppo', {
  assignments: [
    'optimizer.learningRate=1',
    'optimizer.warmupFraction=0.1',
    'optimizer.decayStartFraction=0.5',
    'optimizer.finalFraction=0.2',
  ],
});

describe('learningRateAt', () => {
  it('warms up linearly: of 40 updates the first 4 take 1/5 … 4/5 of the peak', () => {
    const rates = [0, 1, 2, 3, 4].map((index) => learningRateAt(optimizer, index, 40));
    [0.2, 0.4, 0.6, 0.8, 1].forEach((expected, i) => {
      expect(rates[i]).toBeCloseTo(expected, 12);
    });
  });

  it('is constant up to the start of the decay, and ends at the final fraction', () => {
    expect(learningRateAt(optimizer, 20, 40)).toBe(1);
    expect(learningRateAt(optimizer, 39, 40)).toBeCloseTo(0.2, 12);
  });

  it('decays linearly: halfway from update 20 to 39 it is halfway from 1 to 0.2', () => {
    expect(learningRateAt(optimizer, 29.5, 40)).toBeCloseTo(0.6, 12);
  });

  it('decays along half a cosine: a quarter of the way 0.8536 of the fall remains, halfway a half', () => {
    const cosine = { ...optimizer, schedule: 'cosine' as const };
    expect(learningRateAt(cosine, 20 + 19 / 4, 40)).toBeCloseTo(0.2 + 0.8 * 0.853553390593, 9);
    expect(learningRateAt(cosine, 29.5, 40)).toBeCloseTo(0.6, 12);
    expect(learningRateAt(cosine, 39, 40)).toBeCloseTo(0.2, 12);
  });

  it('stays at the peak after the warm-up with the schedule constant', () => {
    const constant = { ...optimizer, schedule: 'constant' as const };
    expect([3, 4, 39].map((index) => learningRateAt(constant, index, 40))).toEqual([0.8, 1, 1]);
  });

  it('takes the peak when there is one update', () => {
    expect(learningRateAt({ ...optimizer, warmupFraction: 0 }, 0, 1)).toBe(1);
  });
});
