import { broadcastRows, rowLengths, rowSums } from '../layout/ragged.js';
import { choice, flag, fraction, nonNegative, type OptionSchema, type OptionsOf } from '../registry/index.js';
import {
  defineAdvantageEstimator,
  requiredInput,
  type AdvantageBatch,
  type AdvantageEstimator,
} from './estimator.js';
import { gae } from './gae.js';
import { drGrpo, gpg, grpoPassK, maxRl, opo, rloo } from './group-baselines.js';
import { grpo, type GroupAdvantages, type GroupInput } from './grpo.js';
import { whiten } from './whiten.js';

/** The estimators of this library by name; importing this file registers them. */

const singleton = choice('zero', 'raw');

defineAdvantageEstimator({
  name: 'gae',
  source: 'Schulman et al., arXiv:1506.02438, eq. 11–16',
  usesCritic: true,
  usesGroups: false,
  requires: ['values'],
  options: { gamma: fraction(1), lambda: fraction(1), whiten: flag(true) },
  compute(batch, options) {
    const { gamma, lambda } = options;
    const { advantages, returns } = gae({ ...batch, values: requiredInput(batch, 'values'), gamma, lambda });
    return { advantages: options.whiten ? whiten(advantages) : advantages, returns, statistics: {} };
  },
});

defineGroupEstimator({
  name: 'grpo',
  source: 'Shao et al., arXiv:2402.03300, §4.1.2',
  options: { singleton, equalGroupCoefficient: nonNegative(0) },
  estimate: grpo,
});

defineGroupEstimator({
  name: 'drGrpo',
  source: 'Liu et al., arXiv:2503.20783',
  options: { singleton },
  estimate: drGrpo,
});

defineGroupEstimator({
  name: 'rloo',
  source: 'Ahmadian et al., arXiv:2402.14740',
  options: { singleton },
  estimate: rloo,
});

defineGroupEstimator({
  name: 'grpoPassK',
  source: 'arXiv:2503.19595',
  options: { divideByStd: flag(true) },
  estimate: grpoPassK,
});

defineGroupEstimator({
  name: 'opo',
  source: 'Hao et al., arXiv:2505.23585',
  options: { singleton },
  estimate: (input, options, batch) => opo({ ...input, lengths: rowLengths(batch.offsets) }, options),
});

defineGroupEstimator({
  name: 'gpg',
  source: 'Chu et al., arXiv:2504.02546',
  options: { singleton, alpha: choice('equalGroups', 'zeroReturns') },
  estimate: gpg,
});

defineGroupEstimator({
  name: 'maxRl',
  source: '(R − μ)/μ over a group',
  options: { singleton },
  estimate: maxRl,
});

interface GroupEstimatorSpec<S extends OptionSchema> extends Pick<
  AdvantageEstimator<S>,
  'name' | 'source' | 'options'
> {
  readonly estimate: (input: GroupInput, options: OptionsOf<S>, batch: AdvantageBatch) => GroupAdvantages;
}

/** An estimator that gives one advantage per episode from the returns of its group. */
function defineGroupEstimator<S extends OptionSchema>({ estimate, ...spec }: GroupEstimatorSpec<S>): void {
  defineAdvantageEstimator({
    ...spec,
    usesCritic: false,
    usesGroups: true,
    requires: [],
    compute(batch, options) {
      const returns = rowSums(batch.rewards, batch.offsets);
      const { advantages, ...statistics } = estimate({ returns, groupIds: batch.groupIds }, options, batch);
      return { advantages: broadcastRows(advantages, batch.offsets), returns: null, statistics };
    },
  });
}
