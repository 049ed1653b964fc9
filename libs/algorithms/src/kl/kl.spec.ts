import { describe, expect, it } from 'vitest';
import { KL_ESTIMATORS, adaptKlCoefficient, applyKlPenalty, estimateKl, type KlEstimator } from '../index.js';
import { estimateKlTerm } from './estimators.js';
import { catchFault } from '../testing/invalid.js';

describe('KL estimators', () => {
  it.each<[KlEstimator, number]>([
    ['k1', -0.5],
    ['abs', 0.5],
    ['k2', 0.125],
    ['k3', Math.exp(0.5) - 0.5 - 1],
  ])('%s at d = −½', (estimator, expected) => {
    expect(estimateKlTerm(estimator, -0.5)).toBeCloseTo(expected, 12);
  });

  it('are 0 at d = 0, and k3 is between 0 and 10', () => {
    for (const estimator of KL_ESTIMATORS) expect(estimateKlTerm(estimator, 0)).toBeCloseTo(0, 15);
    for (const d of [-1000, -20, -1e-9, 1e-9, 5, 1000]) {
      expect(estimateKlTerm('k3', d)).toBeGreaterThanOrEqual(0);
      expect(estimateKlTerm('k3', d)).toBeLessThanOrEqual(10);
    }
  });

  it('k1 and k3 average to the KL under the policy they are sampled from', () => {
    const policy = [0.5, 0.3, 0.2];
    const reference = [0.2, 0.2, 0.6];
    const kl = policy.reduce((sum, p, v) => sum + p * Math.log(p / reference[v]), 0);
    for (const estimator of ['k1', 'k3'] as const) {
      const mean = policy.reduce(
        (sum, p, v) => sum + p * estimateKlTerm(estimator, Math.log(p / reference[v])),
        0,
      );
      expect(mean).toBeCloseTo(kl, 12);
    }
  });

  it('refuse an unknown name and logprobs that are not finite', () => {
    const one = Float32Array.of(-1);
    expect(catchFault(() => estimateKl(one, one, { estimator: 'k4' as 'k3' })).message).toContain(
      "estimator is 'k4', which is not known; did you mean k1, k2, k3?",
    );
    expect(catchFault(() => estimateKl(one, Float32Array.of(Number.NaN), { estimator: 'k1' })).message).toBe(
      'referenceLogprobs[0] is NaN, must be finite',
    );
  });
});

describe('KL in the reward', () => {
  it('subtracts β·KL from the reward of each token', () => {
    const rewards = applyKlPenalty({
      rewards: Float32Array.of(0, 1),
      proximalLogprobs: Float32Array.of(-1, -1),
      referenceLogprobs: Float32Array.of(-1.5, -0.5),
      coefficient: 0.5,
      estimator: 'k1',
    });
    expect([...rewards]).toEqual([-0.25, 1.25]);
  });
});

describe('adaptKlCoefficient', () => {
  const options = { target: 0.1, horizon: 100 };

  it('increases when the KL is above its target and decreases when it is below, by at most a fifth per horizon', () => {
    const meanKl = 0.11;
    expect(adaptKlCoefficient(1, { meanKl, numSamples: 50 }, options)).toBeCloseTo(1 + (0.1 * 50) / 100, 12);
    expect(adaptKlCoefficient(1, { meanKl: 5, numSamples: 100 }, options)).toBeCloseTo(1.2, 12);
    expect(adaptKlCoefficient(1, { meanKl: -5, numSamples: 100 }, options)).toBeCloseTo(0.8, 12);
  });

  it('never falls below 0 and refuses a target of 0', () => {
    expect(adaptKlCoefficient(1, { meanKl: 0, numSamples: 1e6 }, options)).toBe(0);
    expect(
      catchFault(() => adaptKlCoefficient(1, { meanKl: 0, numSamples: 1 }, { target: 0, horizon: 1 }))
        .message,
    ).toContain('target is 0');
  });
});
