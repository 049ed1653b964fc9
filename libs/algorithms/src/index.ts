export { AlgorithmError, type AlgorithmErrorCode } from './errors.js';

export { broadcastRows, offsetsOf, rowLengths, rowSums } from './layout/ragged.js';
export { groupMoments, numberGroups, type GroupCounts, type GroupMoments } from './layout/groups.js';

export {
  computeAdvantages,
  defineAdvantageEstimator,
  getAdvantageEstimator,
  listAdvantageEstimators,
  resolveAdvantageOptions,
  type AdvantageBatch,
  type AdvantageEstimator,
  type AdvantageResult,
} from './advantages/estimator.js';
import './advantages/builtin.js';
export { gae, type GaeInput, type GaeResult } from './advantages/gae.js';
export { monteCarloReturns, nStepReturns, tdLambdaReturns, type ReturnsInput } from './advantages/returns.js';
export {
  grpo,
  type GroupAdvantages,
  type GroupInput,
  type GrpoOptions,
  type SingletonRule,
} from './advantages/grpo.js';
export {
  drGrpo,
  gpg,
  grpoPassK,
  maxRl,
  opo,
  rloo,
  type GpgOptions,
  type OpoInput,
} from './advantages/group-baselines.js';
export { whiten } from './advantages/whiten.js';

export {
  computePolicyLoss,
  definePolicyLoss,
  getPolicyLoss,
  listPolicyLosses,
  resolvePolicyLossOptions,
  type PolicyLoss,
  type PolicyLossInput,
  type PolicyLossTerms,
} from './losses/policy-loss.js';
export { ppo } from './losses/ppo.js';
export { valueLoss, type ValueLossInput, type ValueLossTerms } from './losses/value-loss.js';
export { categoricalEntropy, type EntropyTerms } from './losses/entropy.js';

export {
  AGGREGATIONS,
  aggregationWeights,
  countForAggregation,
  type AggregatedTokens,
  type Aggregation,
  type AggregationCounts,
  type AggregationOptions,
} from './aggregation/aggregation.js';

export {
  KL_ESTIMATORS,
  estimateKl,
  klValue,
  type KlEstimator,
  type KlOptions,
  type KlTerms,
} from './kl/estimators.js';
export { adaptKlCoefficient, type AdaptiveKlOptions } from './kl/coefficient.js';
export { applyKlPenalty, type KlInRewardInput } from './kl/in-reward.js';

export { effectiveSampleFraction } from './statistics/effective-sample-size.js';
export { explainedVariance } from './statistics/explained-variance.js';
export { ratioStatistics, type RatioStatistics } from './statistics/ratio-statistics.js';
