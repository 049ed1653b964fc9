import { checkFinite } from '../../layout/check.js';
import { broadcastRows, rowLengths, rowSums } from '../../layout/ragged.js';
import {
  choice,
  flag,
  fraction,
  nonNegative,
  type OptionSchema,
  type OptionsOf,
} from '../../registry/index.js';
import { defineAdvantageEstimator, type AdvantageEstimator } from '../estimator.js';
import type { AdvantageBatch } from '../advantage-batch.js';
import { gdpo } from '../gdpo.js';
import { gigpo } from '../gigpo.js';
import { drGrpo, gpg, grpoPassK, maxRl, opo, rloo } from '../group-baselines.js';
import { GROUP_EPSILON, grpo, type GroupAdvantages, type GroupInput } from '../grpo.js';
import { optimalTokenBaseline } from '../optimal-token-baseline.js';

/** Estimators that compare the episodes of a group, without a critic. Importing this file registers them. */

const singleton = choice('zero', 'raw');
const OVER_GROUPS = { usesCritic: false, usesGroups: true, correctsForBehavior: false } as const;

/** Below this share of steps with a shared anchor GiGPO's step level is as good as absent. */
const HARDLY_ANY_SHARED_ANCHORS = 0.05;

defineEpisodeEstimator({
  name: 'grpo',
  source: 'Shao et al., arXiv:2402.03300, §4.1.2',
  options: { singleton, equalGroupCoefficient: nonNegative(0), epsilon: nonNegative(GROUP_EPSILON) },
  estimate: grpo,
});

defineEpisodeEstimator({
  name: 'drGrpo',
  source: 'Liu et al., arXiv:2503.20783',
  options: { singleton },
  estimate: drGrpo,
});

defineEpisodeEstimator({
  name: 'rloo',
  source: 'Ahmadian et al., arXiv:2402.14740',
  options: { singleton },
  estimate: rloo,
});

defineEpisodeEstimator({
  name: 'grpoPassK',
  source: 'arXiv:2503.19595',
  options: { divideByStd: flag(true), epsilon: nonNegative(GROUP_EPSILON) },
  estimate: grpoPassK,
});

defineEpisodeEstimator({
  name: 'opo',
  source: 'Hao et al., arXiv:2505.23585',
  options: { singleton },
  estimate: (input, options, batch) => opo({ ...input, lengths: rowLengths(batch.offsets) }, options),
});

defineEpisodeEstimator({
  name: 'gpg',
  source: 'Chu et al., arXiv:2504.02546',
  options: { singleton, alpha: choice('equalGroups', 'zeroReturns') },
  estimate: gpg,
});

defineEpisodeEstimator({
  name: 'maxRl',
  source: '(R − μ)/μ over a group',
  options: { singleton },
  estimate: maxRl,
});

defineAdvantageEstimator({
  ...OVER_GROUPS,
  name: 'gdpo',
  source: 'arXiv:2601.05242',
  requires: ['rewardComponents', 'componentWeights'],
  options: { singleton, epsilon: nonNegative(GROUP_EPSILON) },
  compute(batch, options) {
    const { rewards, rewardComponents: components, componentWeights: weights } = batch;
    checkFinite({ rewards });
    const { advantages, ...statistics } = gdpo({ ...batch, components, weights }, options);
    return { advantages, returns: null, statistics };
  },
});

defineAdvantageEstimator({
  ...OVER_GROUPS,
  name: 'optimalTokenBaseline',
  source: "verl's multi-turn optimal token baseline",
  requires: ['proximalLogprobs', 'sumSquaredProbabilities'],
  options: { singleton, loneTail: choice('raw', 'zero') },
  compute(batch, options) {
    const { advantages, ...statistics } = optimalTokenBaseline(batch, options);
    return { advantages, returns: null, statistics };
  },
});

defineAdvantageEstimator({
  ...OVER_GROUPS,
  name: 'gigpo',
  source: 'Feng et al., arXiv:2505.10978',
  requires: ['episodeSteps', 'stepOffsets', 'anchors'],
  options: {
    normalization: choice('meanStd', 'mean'),
    stepGamma: fraction(0.95),
    stepWeight: nonNegative(1),
    weighting: choice('episodes', 'stepRows'),
    epsilon: nonNegative(GROUP_EPSILON),
  },
  compute(batch, options) {
    const { advantages, ...statistics } = gigpo(batch, options);
    const { sharedAnchorFraction } = statistics;
    const warnings =
      sharedAnchorFraction < HARDLY_ANY_SHARED_ANCHORS
        ? [
            `only ${(100 * sharedAnchorFraction).toFixed(1)} % of the steps share an anchor: GiGPO is hardly more than GRPO here`,
          ]
        : [];
    return { advantages, returns: null, statistics, warnings };
  },
});

interface EpisodeEstimatorSpec<S extends OptionSchema> extends Pick<
  AdvantageEstimator<S>,
  'name' | 'source' | 'options'
> {
  readonly estimate: (input: GroupInput, options: OptionsOf<S>, batch: AdvantageBatch) => GroupAdvantages;
}

/** Registers an estimator that gives one advantage per episode, from the returns of its group. */
function defineEpisodeEstimator<S extends OptionSchema>({
  estimate,
  ...spec
}: EpisodeEstimatorSpec<S>): void {
  defineAdvantageEstimator({
    ...OVER_GROUPS,
    ...spec,
    requires: [],
    compute(batch, options) {
      const returns = rowSums(batch.rewards, batch.offsets, { name: 'rewards' });
      const { advantages, ...statistics } = estimate({ returns, groupIds: batch.groupIds }, options, batch);
      return {
        advantages: broadcastRows(advantages, batch.offsets, batch.output?.advantages),
        returns: null,
        statistics,
      };
    },
  });
}
