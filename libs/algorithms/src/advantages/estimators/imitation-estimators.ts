import { broadcastRows, rowSums } from '../../layout/ragged.js';
import { fraction, positive, positiveFraction } from '../../registry/index.js';
import { defineAdvantageEstimator } from '../estimator.js';
import { advantageWeights, bestOfN, topReturns } from '../imitation-weights.js';
import { tdLambdaReturns } from '../returns.js';

/** Estimators whose advantages are weights of imitation, for the loss `gpg`. Importing this file registers them. */

const IMITATES = { correctsForBehavior: false, weighsImitation: true } as const;

defineAdvantageEstimator({
  ...IMITATES,
  name: 'bestOfN',
  source: 'RAFT, Dong et al., arXiv:2304.06767',
  usesCritic: false,
  usesGroups: true,
  requires: [],
  options: {},
  compute({ rewards, offsets, groupIds, output }) {
    const returns = rowSums(rewards, offsets, { name: 'rewards' });
    const { advantages, ...statistics } = bestOfN({ returns, groupIds });
    return { advantages: broadcastRows(advantages, offsets, output?.advantages), returns: null, statistics };
  },
});

defineAdvantageEstimator({
  ...IMITATES,
  name: 'topReturns',
  source: '%BC of Chen et al., arXiv:2106.01345, §5.1',
  usesCritic: false,
  usesGroups: false,
  requires: [],
  options: { topFraction: positiveFraction(0.25) },
  compute({ rewards, offsets, output }, options) {
    const returns = rowSums(rewards, offsets, { name: 'rewards' });
    const advantages = topReturns({ returns }, options);
    const numImitatedEpisodes = advantages.reduce((sum, weight) => sum + weight, 0);
    return {
      advantages: broadcastRows(advantages, offsets, output?.advantages),
      returns: null,
      statistics: { numImitatedEpisodes },
    };
  },
});

defineAdvantageEstimator({
  ...IMITATES,
  name: 'awr',
  source: 'Peng et al., arXiv:1910.00177, eq. 3',
  usesCritic: true,
  usesGroups: false,
  requires: ['values'],
  options: {
    gamma: fraction(1),
    lambda: fraction(0.95),
    temperature: positive(1),
    maxWeight: positive(20),
  },
  compute(batch, { temperature, maxWeight, ...discounting }) {
    const returns = tdLambdaReturns({ ...batch, ...discounting });
    const advantages = returns.map((target, t) => target - batch.values[t]);
    const weights = advantageWeights(advantages, { temperature, maxWeight });
    const numCapped = weights.reduce((count, weight) => count + Number(weight === maxWeight), 0);
    const cappedFraction = weights.length === 0 ? 0 : numCapped / weights.length;
    return { advantages: weights, returns, statistics: { cappedFraction } };
  },
});
