import { describe, expect, it } from 'vitest';
import { effectiveSampleFraction, explainedVariance, ratioStatistics } from '../index.js';
import { catchFault } from '../testing/invalid.js';

describe('explainedVariance', () => {
  const returns = Float32Array.of(0, 1, 2, 3);

  it('is 1 for perfect values, 0 for a constant, and negative for worse ones', () => {
    expect(explainedVariance(returns, returns)).toBe(1);
    expect(explainedVariance(Float32Array.of(9, 9, 9, 9), returns)).toBeCloseTo(0, 12);
    // errors 3, 1, −1, −3 have four times the variance of the returns
    expect(explainedVariance(Float32Array.of(-3, 0, 3, 6), returns)).toBeCloseTo(-3, 12);
  });

  it('leaves masked tokens out', () => {
    expect(
      explainedVariance(Float32Array.of(0, 1, 99), Float32Array.of(0, 1, 2), Uint8Array.of(1, 1, 0)),
    ).toBe(1);
  });

  it('is NaN (not available) for constant returns or fewer than two tokens', () => {
    expect(explainedVariance(returns, new Float32Array(4))).toBeNaN();
    expect(explainedVariance(Float32Array.of(1), Float32Array.of(1))).toBeNaN();
  });
});

describe('effectiveSampleFraction', () => {
  it('is 1 for equal weights, and 1/n when all but one are 0', () => {
    expect(effectiveSampleFraction(Float64Array.of(3, 3, 3))).toBeCloseTo(1, 12);
    expect(effectiveSampleFraction(Float64Array.of(0, 5, 0, 0))).toBeCloseTo(0.25, 12);
    // (1 + 3)²/(2·(1 + 9))
    expect(effectiveSampleFraction(Float64Array.of(1, 3))).toBeCloseTo(0.8, 12);
  });

  it('is NaN when all weights are 0, and refuses weights that are not finite', () => {
    expect(effectiveSampleFraction(new Float64Array(0))).toBeNaN();
    expect(effectiveSampleFraction(new Float64Array(3))).toBeNaN();
    expect(catchFault(() => effectiveSampleFraction(Float64Array.of(Infinity))).message).toBe(
      'weights[0] is Infinity, must be finite',
    );
  });
});

describe('ratioStatistics', () => {
  it('gives a KL that does not saturate where ratios are clamped', () => {
    const { kl, klK3, minRatio } = ratioStatistics(Float32Array.of(-51), Float32Array.of(-1));
    expect(kl).toBe(50);
    // e^−20 − 1 + 50
    expect(klK3).toBeCloseTo(49, 6);
    expect(minRatio).toBe(Math.exp(-20));
  });

  it('gives KL 0 and deviation 0 on policy', () => {
    const logprobs = Float32Array.of(-1, -2, -0.5);
    expect(ratioStatistics(logprobs, logprobs)).toEqual({
      numTokens: 3,
      meanRatio: 1,
      maxRatio: 1,
      minRatio: 1,
      maxDeviation: 0,
      effectiveSampleFraction: 1,
      chiSquare: 0,
      kl: -0,
      klK3: 0,
    });
  });

  it('agrees with values worked out by hand for ratios 1 and 3, without masked tokens', () => {
    const statistics = ratioStatistics(
      Float32Array.of(-1, -1, 0),
      Float32Array.of(-1, -1 - Math.log(3), -50),
      Uint8Array.of(1, 1, 0),
    );
    expect(statistics.meanRatio).toBeCloseTo(2, 6);
    expect(statistics.maxDeviation).toBeCloseTo(2, 6);
    expect(statistics.effectiveSampleFraction).toBeCloseTo(0.8, 6);
    expect(statistics.chiSquare).toBeCloseTo((1 + 9) / 2 - 1, 5);
    expect(statistics.kl).toBeCloseTo(-Math.log(3) / 2, 6);
    expect(statistics.klK3).toBeCloseTo(2 - 1 - Math.log(3) / 2, 6);
  });

  it('clamps log ratios to ±20, and is NaN without a token', () => {
    expect(ratioStatistics(Float32Array.of(0), Float32Array.of(-100)).maxRatio).toBeCloseTo(Math.exp(20), 0);
    const nothing = ratioStatistics(new Float32Array(0), new Float32Array(0));
    expect(nothing.numTokens).toBe(0);
    expect([nothing.maxRatio, nothing.meanRatio, nothing.maxDeviation, nothing.kl]).toEqual([
      NaN,
      NaN,
      NaN,
      NaN,
    ]);
  });
});
