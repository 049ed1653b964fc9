import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gae, monteCarloReturns, nStepReturns, tdLambdaReturns, whiten, type GaeInput } from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { catchFault } from '../testing/invalid.js';

const EPISODES: GaeInput = {
  offsets: Int32Array.of(0, 3, 3, 4),
  rewards: Float32Array.of(0, 0, 1, 2),
  values: Float32Array.of(0.5, 0.25, 0.75, 1),
  gamma: 0.5,
  lambda: 0.5,
};

describe('gae', () => {
  it('gives the recursion of the paper, as worked out by hand', () => {
    const { advantages, returns } = gae(EPISODES);
    // Backwards, γ = λ = ½: δ₂ = 1 − .75 = .25; δ₁ = ½·.75 − .25 = .125; δ₀ = ½·.25 − .5 = −.375
    // A₂ = .25; A₁ = .125 + ¼·.25 = .1875; A₀ = −.375 + ¼·.1875 = −.328125. Last episode: 2 − 1 = 1.
    expect([...advantages]).toEqual([-0.328125, 0.1875, 0.25, 1]);
    expect([...returns]).toEqual([-0.328125 + 0.5, 0.1875 + 0.25, 1, 2]);
  });

  it('bootstraps the last value when truncated, and only then', () => {
    const finalValues = Float32Array.of(8, 100, 4);
    const truncated = Uint8Array.of(1, 1, 0);
    const { advantages } = gae({ ...EPISODES, truncated, finalValues });
    // δ₂ = 1 + ½·8 − .75 = 4.25; A₁ = .125 + ¼·4.25 = 1.1875; A₀ = −.375 + ¼·1.1875 = −.078125
    expect([...advantages]).toEqual([-0.078125, 1.1875, 4.25, 1]);
  });

  it('with λ = 1 is the Monte Carlo return minus the value, with λ = 0 the one-step TD error', () => {
    const one = gae({ ...EPISODES, lambda: 1 });
    expectClose(one.returns, monteCarloReturns(EPISODES), 1e-6);
    const zero = gae({ ...EPISODES, lambda: 0 });
    expect([...zero.advantages]).toEqual([-0.375, 0.125, 0.25, 1]);
  });

  it('gives a reward on an observation token to the action before it', () => {
    const mask = Uint8Array.of(1, 0, 1);
    const masked = gae({
      ...EPISODES,
      offsets: Int32Array.of(0, 3),
      rewards: Float32Array.of(0, 7, 1),
      values: Float32Array.of(0.5, 99, 0.75),
      mask,
    });
    const joined = gae({
      ...EPISODES,
      offsets: Int32Array.of(0, 2),
      rewards: Float32Array.of(7, 1),
      values: Float32Array.of(0.5, 0.75),
    });
    expect([...masked.advantages]).toEqual([joined.advantages[0], 0, joined.advantages[1]]);
  });

  it('gives a reward before the first action to that action, and finds one that is not finite', () => {
    const masked = {
      ...EPISODES,
      offsets: Int32Array.of(0, 3, 4),
      values: Float32Array.of(99, 0.5, 0.75, 99),
    };
    const mask = Uint8Array.of(0, 1, 1, 0);
    const { advantages, returns } = gae({ ...masked, rewards: Float32Array.of(7, 0, 1, 3), mask });
    const joined = gae({
      ...EPISODES,
      offsets: Int32Array.of(0, 2),
      rewards: Float32Array.of(7, 1),
      values: Float32Array.of(0.5, 0.75),
    });
    expect([...advantages]).toEqual([0, ...joined.advantages, 0]);
    expect([...returns]).toEqual([0, ...joined.returns, 0]);
    for (const at of [0, 3]) {
      const rewards = Float32Array.of(0, 0, 1, 0).fill(Number.NaN, at, at + 1);
      expect(catchFault(() => gae({ ...masked, rewards, mask })).message).toBe(
        `rewards[${at}] is NaN, must be finite`,
      );
    }
  });

  it('accepts a batch without episodes, and episodes without tokens', () => {
    const empty = {
      offsets: Int32Array.of(0),
      rewards: new Float32Array(0),
      values: new Float32Array(0),
      gamma: 1,
      lambda: 1,
    };
    expect(gae(empty).advantages).toHaveLength(0);
    expect(gae({ ...empty, offsets: Int32Array.of(0, 0, 0) }).returns).toHaveLength(0);
  });

  it.each<[string, Partial<GaeInput>, string]>([
    ['γ', { gamma: 1.5 }, 'gamma is 1.5, must be in [0, 1]'],
    ['λ', { lambda: Number.NaN }, 'lambda is NaN, must be in [0, 1]'],
    [
      'a reward that is missing',
      { rewards: Float32Array.of(0, Number.NaN, 0, 0) },
      'rewards[1] is NaN, must be finite',
    ],
    [
      'an infinite value',
      { values: Float32Array.of(0, 0, 0, Infinity) },
      'values[3] is Infinity, must be finite',
    ],
    ['unequal lengths', { values: new Float32Array(3) }, 'values has 3 entries, must have 4'],
    [
      'offsets that fall',
      { offsets: Int32Array.of(0, 3, 2, 4) },
      'offsets[2] is 2, must not be less than the 3 before it',
    ],
    [
      'offsets that end early',
      { offsets: Int32Array.of(0, 3) },
      'offsets ends at 3, must end at the number of values, 4',
    ],
    ['offsets that start late', { offsets: Int32Array.of(1, 4) }, 'offsets[0] is 1, must be 0'],
    ['no offsets', { offsets: new Int32Array(0) }, 'offsets is empty'],
    ['a mask of 2', { mask: Uint8Array.of(1, 2, 1, 1) }, 'mask[1] is 2, must be 0 or 1'],
  ])('refuses %s', (_what, change, message) => {
    expect(catchFault(() => gae({ ...EPISODES, ...change }))).toEqual({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message) as string,
    });
  });

  it('refuses truncated episodes without final values', () => {
    expect(catchFault(() => gae({ ...EPISODES, truncated: Uint8Array.of(0, 1, 0) }))).toMatchObject({
      code: 'MISSING_INPUT',
      message: expect.stringContaining('episode 1 is truncated') as string,
    });
  });
});

const episodes = fc.array(
  fc.array(fc.tuple(fc.integer({ min: -8, max: 8 }), fc.integer({ min: -8, max: 8 })), { maxLength: 6 }),
  { minLength: 1, maxLength: 5 },
);

function inputOf(rows: readonly (readonly [number, number])[][]): GaeInput {
  const offsets = [0];
  for (const row of rows) offsets.push(offsets[offsets.length - 1] + row.length);
  return {
    offsets: Int32Array.from(offsets),
    rewards: Float32Array.from(rows.flat(), ([reward]) => reward / 8),
    values: Float32Array.from(rows.flat(), ([, value]) => value / 8),
    truncated: Uint8Array.from(rows, (_, e) => e % 2),
    finalValues: Float32Array.from(rows, (_, e) => e / 2),
    gamma: 0.9,
    lambda: 0.8,
  };
}

describe('returns', () => {
  it('n-step returns are the sum of n rewards and the value after them, by brute force', () => {
    fc.assert(
      fc.property(episodes, fc.integer({ min: 1, max: 8 }), (rows, numSteps) => {
        const input = inputOf(rows);
        const returns = nStepReturns({ ...input, numSteps });
        rows.forEach((row, e) => {
          const valueAt = (i: number): number => (i < row.length ? row[i][1] / 8 : e % 2 === 1 ? e / 2 : 0);
          row.forEach((_, t) => {
            const stop = Math.min(t + numSteps, row.length);
            let expected = 0.9 ** (stop - t) * valueAt(stop);
            for (let k = t; k < stop; k++) expected += (0.9 ** (k - t) * row[k][0]) / 8;
            expect(returns[input.offsets[e] + t]).toBeCloseTo(expected, 4);
          });
        });
      }),
      { numRuns: 50 },
    );
  });

  it('TD(λ) is the λ-weighted mean of all n-step returns', () => {
    fc.assert(
      fc.property(episodes, (rows) => {
        const input = inputOf(rows);
        const lambda = input.lambda;
        const weighted = new Float32Array(input.rewards.length);
        rows.forEach((row, e) => {
          row.forEach((_, t) => {
            const left = row.length - t;
            let sum = 0;
            for (let n = 1; n <= left; n++) {
              const weight = n === left ? lambda ** (n - 1) : (1 - lambda) * lambda ** (n - 1);
              sum += weight * nStepReturns({ ...input, numSteps: n })[input.offsets[e] + t];
            }
            weighted[input.offsets[e] + t] = sum;
          });
        });
        expectClose(tdLambdaReturns(input), weighted, 1e-5);
      }),
      { numRuns: 30 },
    );
  });

  it('Monte Carlo returns end with the episode unless final values are given', () => {
    const input = {
      offsets: Int32Array.of(0, 2),
      rewards: Float32Array.of(1, 1),
      gamma: 0.5,
      truncated: Uint8Array.of(1),
    };
    expect([...monteCarloReturns(input)]).toEqual([1.5, 1]);
    expect([...monteCarloReturns({ ...input, finalValues: Float32Array.of(4) })]).toEqual([2.5, 3]);
  });

  it('refuses an n of 0', () => {
    expect(catchFault(() => nStepReturns({ ...EPISODES, numSteps: 0 })).message).toBe(
      'numSteps is 0, must be an integer ≥ 1',
    );
  });
});

describe('whiten', () => {
  it('gives mean 0 and sample variance 1 over the mask, and 0 elsewhere', () => {
    const whitened = whiten(Float32Array.of(1, 5, 3, 100), Uint8Array.of(1, 1, 1, 0));
    // mean 3, deviations −2, 2, 0, variance 8/2 = 4
    expectClose(whitened, [-1, 1, 0, 0], 1e-6);
  });

  it.each([
    ['no token', Float32Array.of(1, 2), Uint8Array.of(0, 0)],
    ['one token', Float32Array.of(1, 2), Uint8Array.of(0, 1)],
    ['equal values', Float32Array.of(7, 7), null],
    ['nothing', new Float32Array(0), null],
  ])('gives 0 for %s', (_what, values, mask) => {
    expect(whiten(values, mask).every((value) => value === 0)).toBe(true);
  });
});
