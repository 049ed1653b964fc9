import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  toOffsets,
  preferenceLoss,
  preferencePairs,
  PREFERENCE_LOSSES,
  type PreferenceLossInput,
  type PreferenceLossOptions,
} from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { catchFault } from '../testing/invalid.js';

describe('preferencePairs', () => {
  it('has of each group the best episode against the worst, the first of equally good ones', () => {
    const returns = Float64Array.of(0, 2, 0, 2, 5, -1, 3, 3, 0);
    const groupIds = Int32Array.of(0, 0, 0, 0, 3, 1, 1, 2, 1);
    expect(preferencePairs({ returns, groupIds })).toEqual({
      chosen: Int32Array.of(1, 6),
      rejected: Int32Array.of(0, 5),
      numGroups: 4,
      numSingletonGroups: 2,
      numEqualGroups: 0,
    });
  });

  it('has none of groups whose returns are equal, up to the rounding of float32', () => {
    const returns = Float64Array.of(0.3, 0.1 + 0.2, 7, 7);
    const { chosen, numEqualGroups } = preferencePairs({ returns, groupIds: Int32Array.of(0, 0, 1, 1) });
    expect([...chosen]).toEqual([]);
    expect(numEqualGroups).toBe(2);
  });

  it('has no excluded episode, and does not read its return', () => {
    const returns = Float64Array.of(NaN, 1, 0, NaN, 4);
    const groupIds = Int32Array.of(0, 0, 0, 1, 1);
    const pairs = preferencePairs({ returns, groupIds, excluded: Uint8Array.of(1, 0, 0, 1, 0) });
    expect([[...pairs.chosen], [...pairs.rejected]]).toEqual([[1], [2]]);
    expect([pairs.numGroups, pairs.numSingletonGroups]).toEqual([2, 1]);
  });
});

/** Two pairs over four episodes of 2, 1, 0 and 3 tokens; an episode of 1 token has no pair. */
const input: PreferenceLossInput = {
  offsets: Int32Array.of(0, 2, 3, 3, 6, 7),
  logprobs: Float32Array.of(-1, -0.5, -2, -0.25, -1.5, -1, -3),
  referenceLogprobs: Float32Array.of(-1.5, -1, -1.5, -1, -1, -1.25, -1),
  chosen: Int32Array.of(0, 2),
  rejected: Int32Array.of(1, 3),
};

describe('preferenceLoss', () => {
  it('is −log σ(βh) for dpo and (h − 1/(2β))² for ipo, with sums over the action tokens', () => {
    // s is 1, −0.5, 0 and 0.75 − 0.5 + 0.25 = 0.5, so h is 1.5 and −0.5.
    const dpo = preferenceLoss(input, { loss: 'dpo', beta: 0.5 });
    const logSigmoid = (x: number) => -Math.log(1 + Math.exp(-x));
    expectClose(dpo.pairLosses, [-logSigmoid(0.75), -logSigmoid(-0.25)], 1e-6);
    expect(dpo.loss).toBeCloseTo((-logSigmoid(0.75) - logSigmoid(-0.25)) / 2, 6);
    expectClose(dpo.chosenRewards, [0.5, 0], 1e-6);
    expectClose(dpo.rejectedRewards, [-0.25, 0.25], 1e-6);
    const ipo = preferenceLoss(input, { loss: 'ipo', beta: 0.5 });
    expectClose(ipo.pairLosses, [(1.5 - 1) ** 2, (-0.5 - 1) ** 2], 1e-6);
    expectClose(ipo.gradients, [0.5, 0.5, -0.5, 1.5, 1.5, 1.5, 0], 1e-6);
  });

  it('has means over the action tokens where it is normalized by length', () => {
    // Means: 0.5, −0.5, 0 and 0.5/3.
    const { pairLosses } = preferenceLoss(input, { loss: 'ipo', beta: 0.5, lengthNormalized: true });
    expectClose(pairLosses, [0, (-0.5 / 3 - 1) ** 2], 1e-6);
  });

  it('mixes both orders of a pair by the label smoothing', () => {
    const at = (labelSmoothing: number) =>
      preferenceLoss(input, { loss: 'dpo', beta: 0.5, labelSmoothing }).pairLosses;
    const swapped = preferenceLoss(
      { ...input, chosen: input.rejected, rejected: input.chosen },
      { loss: 'dpo', beta: 0.5 },
    ).pairLosses;
    const mixed = at(0).map((value, pair) => 0.75 * value + 0.25 * swapped[pair]);
    expectClose(at(0.25), mixed, 1e-6);
  });

  it('pushes the chosen episode of a policy that is still the reference up, and the rejected one down', () => {
    const still = { ...input, referenceLogprobs: input.logprobs };
    // −β·σ(0)/2 pairs
    const { loss, gradients } = preferenceLoss(still, { loss: 'dpo', beta: 0.1 });
    expect(loss).toBeCloseTo(Math.log(2), 6);
    expectClose(gradients, [-0.025, -0.025, 0.025, 0.025, 0.025, 0.025, 0], 1e-6);
  });

  it('is 0 without a pair', () => {
    const none = new Int32Array(0);
    const { loss, gradients } = preferenceLoss(
      { ...input, chosen: none, rejected: none },
      { loss: 'dpo', beta: 0.1 },
    );
    expect([loss, ...gradients]).toEqual([0, ...new Array<number>(7).fill(0)]);
  });

  it('of log ratios of thousands neither overflows nor loses its gradient', () => {
    const far = {
      offsets: Int32Array.of(0, 1, 2),
      logprobs: Float32Array.of(-9000, -1),
      referenceLogprobs: Float32Array.of(-1, -9000),
      chosen: Int32Array.of(0),
      rejected: Int32Array.of(1),
    };
    const { loss, gradients } = preferenceLoss(far, { loss: 'dpo', beta: 1 });
    expect(loss).toBe(17_998);
    expect([...gradients]).toEqual([-1, 1]);
  });

  const batches = fc
    .array(fc.array(fc.integer({ min: -3 * 1024, max: -50 }), { maxLength: 4 }), {
      minLength: 2,
      maxLength: 8,
    })
    .chain((rows) => {
      const episode = fc.integer({ min: 0, max: rows.length - 1 });
      return fc.record({
        rows: fc.constant(rows),
        shifts: fc.array(fc.integer({ min: -1024, max: 49 }), { minLength: 40, maxLength: 40 }),
        pairs: fc.array(fc.tuple(episode, episode), { minLength: 1, maxLength: 6 }),
      });
    })
    .map(({ rows, shifts, pairs }): PreferenceLossInput => {
      const logprobs = Float32Array.from(rows.flat(), (value) => value / 1024);
      return {
        offsets: toOffsets(rows.map((row) => row.length)),
        logprobs,
        referenceLogprobs: logprobs.map((logprob, t) => logprob + shifts[t] / 1024),
        chosen: Int32Array.from(pairs, ([chosen]) => chosen),
        rejected: Int32Array.from(pairs, ([, rejected]) => rejected),
      };
    });
  const variants: readonly PreferenceLossOptions[] = PREFERENCE_LOSSES.flatMap((loss) => [
    { loss, beta: 0.5 },
    { loss, beta: 0.1, lengthNormalized: true },
    ...(loss === 'dpo' ? [{ loss, beta: 1, labelSmoothing: 0.2 }] : []),
  ]);

  it.each(variants)('has the gradient that finite differences give: %j', (options) => {
    const step = 2 ** -10;
    fc.assert(
      fc.property(batches, (batch) => {
        const { gradients } = preferenceLoss(batch, options);
        gradients.forEach((gradient, t) => {
          const at = (shift: number) => {
            const logprobs = batch.logprobs.map((logprob, i) => logprob + (i === t ? shift : 0));
            return preferenceLoss({ ...batch, logprobs }, options).loss;
          };
          expectClose([gradient], [(at(step) - at(-step)) / (2 * step)], 1e-4);
        });
      }),
      { numRuns: 50, seed: 5 },
    );
  });

  it.each(variants)('of parts of the pairs adds up to that of all: %j', (options) => {
    fc.assert(
      fc.property(batches, fc.nat(6), (batch, cut) => {
        const numPairs = batch.chosen.length;
        const whole = preferenceLoss(batch, options);
        const parts = [
          [0, cut],
          [cut, numPairs],
        ].map(([from, to]) =>
          preferenceLoss(
            {
              ...batch,
              chosen: batch.chosen.subarray(from, to),
              rejected: batch.rejected.subarray(from, to),
            },
            { ...options, numPairs },
          ),
        );
        expectClose([parts[0].loss + parts[1].loss], [whole.loss], 1e-6);
        expectClose(
          parts[0].gradients.map((gradient, t) => gradient + parts[1].gradients[t]),
          whole.gradients,
          1e-6,
        );
      }),
      { seed: 5 },
    );
  });

  it('refuses an episode that is not there, and label smoothing where there is none', () => {
    const broken = { ...input, rejected: Int32Array.of(1, 5) };
    expect(catchFault(() => preferenceLoss(broken, { loss: 'dpo', beta: 0.1 })).message).toBe(
      'rejected[1] is 5, must be an episode in [0, 5)',
    );
    expect(
      catchFault(() => preferenceLoss(input, { loss: 'ipo', beta: 0.1, labelSmoothing: 0.1 })).message,
    ).toBe('labelSmoothing is 0.1, must be 0 with the loss ipo');
    expect(catchFault(() => preferenceLoss(input, { loss: 'kto' as 'dpo', beta: 0.1 })).code).toBe(
      'UNKNOWN_NAME',
    );
  });
});
