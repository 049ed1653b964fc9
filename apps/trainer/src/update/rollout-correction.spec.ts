import { resolveRecipe } from '@retrace/config';
import { expect, it } from 'vitest';
import { correctRollout } from './rollout-correction.js';
import { lossWeights } from './steps/mini-batches.js';

/* Two sequences of two actions each. The last sequence's last action isn't trained. */
const batch = {
  sequenceActionOffsets: Int32Array.of(0, 2, 4),
  behaviorLogprobs: Float32Array.of(-2, -2, -2, NaN),
  policyVersions: Int32Array.of(3, 2, 0, 3),
};
const trained = Uint8Array.of(1, 1, 1, 0);
const proximalLogprobs = Float32Array.of(-2 + Math.log(2), -2 + Math.log(0.5), -2 + Math.log(4), 0);

function correct(rolloutCorrection: object) {
  const recipe = resolveRecipe('bandit-ppo', {
    assignments: [`loss.rolloutCorrection=${JSON.stringify(rolloutCorrection)}`],
  });
  const rules = recipe.loss.rolloutCorrection ?? null;
  return correctRollout({ batch, trained, proximalLogprobs, policyVersionIn: 3 }, { rules, maxStaleness: 1 });
}

it('rollout correction: puts weights at the positions of their tokens, and 0 where nothing is trained', () => {
  const { weights, keep, metrics } = correct({ importance: { level: 'token', cap: 3 } });
  expect(Array.from(weights ?? [], (weight) => Math.round(weight * 1e6) / 1e6)).toEqual([2, 0.5, 3, 0]);
  expect(keep).toBeNull();
  const named = new Map(metrics);
  expect(named.get('correction/maxRawWeight')).toBeCloseTo(4, 5);
  expect(named.get('correction/numTokens')).toBe(3);
  // Versions 3, 2 and 0 under version 3.
  expect([0, 1, 2].map((n) => named.get(`correction/staleness${n}`))).toEqual([1, 1, 1]);
});

it('rollout correction: takes sequences as they are in the batch: 2·½ = 1 and 4', () => {
  const { weights } = correct({ importance: { level: 'sequence', cap: 10 } });
  expect(Array.from(weights ?? [], (weight) => Math.round(weight * 1e5) / 1e5)).toEqual([1, 1, 4, 0]);
});

it('rollout correction: rejects by bounds on the ratio, and rejected tokens weigh nothing but count, unless asked', () => {
  const rejection = [{ statistic: 'k1', scope: 'token', low: 0.6, high: 5 }];
  const { keep } = correct({ rejection });
  expect([...(keep ?? [])]).toEqual([1, 0, 1, 0]);
  const tokens = {
    trainedMask: trained,
    keptMask: keep,
    actionOffsets: batch.sequenceActionOffsets,
    sequenceGroups: Int32Array.of(7, 7),
  };
  const weigh = (denominator: 'all' | 'kept') =>
    Array.from(
      lossWeights(tokens, { aggregation: 'tokenMean', horizon: null, denominator }),
      (weight) => Math.round(weight * 6) / 6,
    );
  expect(weigh('all')).toEqual([1 / 3, 0, 1 / 3, 0]);
  expect(weigh('kept')).toEqual([1 / 2, 0, 1 / 2, 0]);
});
