import {
  flag,
  fraction,
  positive,
  wholeNumber,
  type OptionSchema,
  type OptionsOf,
} from '../../registry/index.js';
import { checkValues } from '../../layout/check.js';
import { biLevelGae } from '../bi-level-gae.js';
import type { AdvantageBatch, Columns } from '../advantage-batch.js';
import { defineAdvantageEstimator } from '../estimator.js';
import { gae } from '../gae.js';
import { monteCarloReturns, nStepReturns, tdLambdaReturns } from '../returns.js';
import { vtrace } from '../vtrace.js';
import { whiten } from '../whiten.js';

/** Estimators that read a critic. Importing this file registers them. */

const discounting = { gamma: fraction(1), lambda: fraction(1), whiten: flag(true) };

defineAdvantageEstimator({
  name: 'gae',
  source: 'Schulman et al., arXiv:1506.02438, eq. 11–16',
  usesCritic: true,
  usesGroups: false,
  correctsForBehavior: false,
  requires: ['values'],
  options: discounting,
  compute(batch, { gamma, lambda, whiten: whitens }) {
    const { advantages, returns } = gae({ ...batch, gamma, lambda });
    return { advantages: whitens ? whiten(advantages) : advantages, returns, statistics: {} };
  },
});

defineAdvantageEstimator({
  name: 'biLevelGae',
  source: 'RAGEN, arXiv:2504.20073',
  usesCritic: true,
  usesGroups: false,
  correctsForBehavior: false,
  requires: ['values', 'episodeSteps', 'stepOffsets'],
  options: { turnGamma: fraction(1), ...discounting },
  compute(batch, { whiten: whitens, ...options }) {
    const { advantages, returns } = biLevelGae({ ...batch, ...options });
    return { advantages: whitens ? whiten(advantages) : advantages, returns, statistics: {} };
  },
});

const { gamma, lambda, whiten: whitens } = discounting;

defineReturnEstimator({
  name: 'mcReturns',
  source: 'Sutton & Barto, Reinforcement Learning, 2nd ed., §5.1 and §13.4: G − V with Monte Carlo returns',
  options: { gamma, whiten: whitens },
  returnsOf: monteCarloReturns,
});

defineReturnEstimator({
  name: 'nStep',
  source: 'Sutton & Barto, Reinforcement Learning, 2nd ed., eq. 7.1: G − V with n-step returns',
  options: { gamma, numSteps: wholeNumber(16, 1), whiten: whitens },
  returnsOf: nStepReturns,
});

defineReturnEstimator({
  name: 'tdLambda',
  source: 'Sutton & Barto, Reinforcement Learning, 2nd ed., eq. 12.2: G − V with λ-returns, which is GAE',
  options: { gamma, lambda, whiten: whitens },
  returnsOf: tdLambdaReturns,
});

defineAdvantageEstimator({
  name: 'vtrace',
  source: 'Espeholt et al., arXiv:1802.01561, eq. 1',
  usesCritic: true,
  usesGroups: false,
  correctsForBehavior: true,
  requires: ['values', 'proximalLogprobs', 'behaviorLogprobs'],
  options: {
    gamma: fraction(1),
    lambda: fraction(1),
    rhoMax: positive(1),
    traceMax: positive(1),
    policyRhoMax: positive(1),
  },
  compute: (batch, options) => ({ ...vtrace({ ...batch, ...options }), statistics: {} }),
});

interface ReturnEstimatorSpec<S extends OptionSchema> {
  readonly name: string;
  readonly source: string;
  readonly options: S & { readonly whiten: ReturnType<typeof flag> };
  /** Targets of the critic `[N]`. */
  readonly returnsOf: (input: AdvantageBatch & Columns<'values'> & OptionsOf<S>) => Float32Array;
}

/** Registers an estimator A = G − V with a return G, whitened by option. */
function defineReturnEstimator<S extends OptionSchema>({ returnsOf, ...spec }: ReturnEstimatorSpec<S>): void {
  defineAdvantageEstimator({
    ...spec,
    usesCritic: true,
    usesGroups: false,
    correctsForBehavior: false,
    requires: ['values'],
    compute(batch, options) {
      const { values } = batch;
      checkValues({ values }, batch.rewards.length);
      const returns = returnsOf({ ...batch, ...(options as OptionsOf<S>) });
      const advantages = returns.map((target, t) => target - values[t]);
      return { advantages: options.whiten ? whiten(advantages) : advantages, returns, statistics: {} };
    },
  });
}
