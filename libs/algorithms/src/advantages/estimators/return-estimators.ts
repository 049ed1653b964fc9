import { broadcastRows, rowSums } from '../../layout/ragged.js';
import { choice, fraction } from '../../registry/index.js';
import { defineAdvantageEstimator } from '../estimator.js';
import { rae } from '../rae.js';
import { reinforcePlusPlus, reinforcePlusPlusBaseline, remax } from '../reinforce.js';

/** Estimators on the return of an episode and a baseline from elsewhere. Importing this file registers them. */

const WITHOUT_CRITIC = { usesCritic: false, correctsForBehavior: false } as const;

defineAdvantageEstimator({
  ...WITHOUT_CRITIC,
  name: 'reinforcePlusPlus',
  source: 'Hu et al., arXiv:2501.03262',
  usesGroups: false,
  requires: [],
  options: { gamma: fraction(1) },
  compute: ({ offsets, rewards }, { gamma }) => ({
    advantages: reinforcePlusPlus({ offsets, rewards, gamma }).advantages,
    returns: null,
    statistics: {},
  }),
});

defineAdvantageEstimator({
  ...WITHOUT_CRITIC,
  name: 'reinforcePlusPlusBaseline',
  source: 'Hu et al., arXiv:2501.03262',
  usesGroups: true,
  requires: [],
  options: { singleton: choice('zero', 'raw') },
  compute({ offsets, rewards, groupIds }, options) {
    const input = { returns: rowSums(rewards, offsets, { name: 'rewards' }), groupIds, offsets };
    const { advantages, ...statistics } = reinforcePlusPlusBaseline(input, options);
    return { advantages, returns: null, statistics };
  },
});

defineAdvantageEstimator({
  ...WITHOUT_CRITIC,
  name: 'remax',
  source: 'Li et al., arXiv:2310.10505',
  usesGroups: false,
  requires: ['greedyReturns'],
  options: {},
  compute: (batch) => ({
    advantages: remax(batch),
    returns: null,
    statistics: {},
  }),
});

defineAdvantageEstimator({
  ...WITHOUT_CRITIC,
  name: 'rae',
  source: 'SPIRAL, arXiv:2506.24119',
  usesGroups: false,
  requires: ['roleIds', 'roleBaselines'],
  options: { decay: fraction(0.95) },
  compute(batch, { decay }) {
    const { advantages, baselines } = rae({
      returns: rowSums(batch.rewards, batch.offsets, { name: 'rewards' }),
      roleIds: batch.roleIds,
      baselines: batch.roleBaselines,
      decay,
    });
    return {
      advantages: broadcastRows(advantages, batch.offsets, batch.output?.advantages),
      returns: null,
      statistics: {},
      roleBaselines: baselines,
    };
  },
});
