export type { AdvantageBatch } from './advantages/advantage-batch.js';
export { AlgorithmError, type AlgorithmErrorCode } from './errors.js';

export { broadcastRows, toOffsets, rowLengths, rowSums } from './layout/ragged.js';
export type { AdvantageOutput } from './layout/output.js';
export { numberGroups } from './layout/groups.js';

export {
  computeAdvantages,
  defineAdvantageEstimator,
  getAdvantageEstimator,
  listAdvantageEstimators,
  resolveAdvantageOptions,
  type AdvantageEstimator,
  type AdvantageResult,
  type OptionalInput,
} from './advantages/estimator.js';
import './advantages/estimators/critic-estimators.js';
import './advantages/estimators/group-estimators.js';
import './advantages/estimators/imitation-estimators.js';
import './advantages/estimators/return-estimators.js';
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
export { advantageWeights, bestOfN, topReturns } from './advantages/imitation-weights.js';
export {
  MOST_COMPARED_UNITS,
  numberAnchors,
  numberSimilarAnchors,
  textSimilarity,
  type SimilarAnchors,
  type SimilarAnchorsInput,
} from './advantages/anchors.js';
export { biLevelGae, type BiLevelGaeInput } from './advantages/bi-level-gae.js';
export { gdpo, type GdpoInput } from './advantages/gdpo.js';
export { gigpo, type GigpoInput, type GigpoOptions, type GigpoResult } from './advantages/gigpo.js';
export {
  optimalTokenBaseline,
  type OptimalTokenBaselineInput,
  type OptimalTokenBaselineOptions,
} from './advantages/optimal-token-baseline.js';
export { rae, type RaeInput, type RaeResult } from './advantages/rae.js';
export {
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  remax,
  type RemaxInput,
} from './advantages/reinforce.js';
export { retrace, type RetraceInput } from './advantages/retrace.js';
export { vtrace, type VtraceInput, type VtraceResult } from './advantages/vtrace.js';
export { whiten } from './advantages/whiten.js';

export {
  computePolicyLoss,
  definePolicyLoss,
  getPolicyLoss,
  listPolicyLosses,
  resolvePolicyLossOptions,
  selectLossTokens,
  type PolicyLoss,
  type PolicyLossInput,
  type PolicyLossTerms,
} from './losses/policy-loss.js';
export { LOG_RATIO_LIMIT } from './losses/token-loss.js';
export { ppo } from './losses/ppo.js';
export { clipCov, klCov } from './losses/covariance-losses.js';
export { decoupledPpo } from './losses/decoupled-ppo.js';
export { m2po } from './losses/m2po.js';
export { sapo, sapoSequence } from './losses/sapo.js';
export { gmpo, gspo, opsm, topr } from './losses/sequence-losses.js';
export { vespo } from './losses/vespo.js';
export { cispo, crossEntropy, dppoKl, dppoTv, dro, gpgLoss } from './losses/weighted-logprob.js';
export { valueLoss, type ValueLossInput, type ValueLossTerms } from './losses/value-loss.js';
export { categoricalEntropy, type EntropyTerms } from './losses/entropy.js';
export { highEntropyTokens } from './losses/high-entropy.js';

export {
  preferencePairs,
  type PreferencePairs,
  type PreferencePairsInput,
} from './preferences/preference-pairs.js';
export {
  PREFERENCE_LOSSES,
  preferenceLoss,
  type PreferenceLossInput,
  type PreferenceLossName,
  type PreferenceLossOptions,
  type PreferenceLossTerms,
} from './preferences/preference-loss.js';

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
  type KlEstimator,
  type KlOptions,
  type KlTerms,
} from './kl/estimators.js';
export {
  DISTILLATION_OBJECTIVES,
  topKKl,
  type DistillationObjective,
  type TopKKlOptions,
} from './kl/top-k-kl.js';
export { adaptKlCoefficient, type AdaptiveKlOptions } from './kl/coefficient.js';
export { applyKlPenalty, type KlInRewardInput } from './kl/in-reward.js';

export {
  PROXIMAL_POLICIES,
  combinationFaults,
  type Combination,
  type ProximalPolicy,
} from './corrections/compatibility.js';
export { proximalShares } from './corrections/proximal-shares.js';
export {
  correctionMetrics,
  stalenessHistogram,
  type CorrectionMetrics,
} from './corrections/correction-metrics.js';
export {
  IMPORTANCE_LEVELS,
  importanceWeights,
  type ImportanceLevel,
  type ImportanceOptions,
  type ImportanceWeights,
} from './corrections/importance-weights.js';
export {
  REJECTION_SCOPES,
  REJECTION_STATISTICS,
  rejectTokens,
  type Rejection,
  type RejectionOptions,
  type RejectionRule,
} from './corrections/rejection.js';
export {
  RESAMPLING_RULES,
  resamplingWeights,
  type ResamplingOptions,
  type ResamplingRule,
} from './corrections/resampling.js';
export type { CorrectionInput } from './corrections/sequence-log-ratios.js';

export { bootstrapInterval, type BootstrapOptions, type Interval } from './evaluation/bootstrap.js';
export { clusterByGroup, type Clusters } from './evaluation/clusters.js';
export { crossFitLinearQ, fittedQEvaluation, type CrossFittedQ } from './evaluation/fitted-q.js';
export type { FittedQOptions, QTransitions } from './evaluation/linear-q.js';
export type { LoggedEpisodes } from './evaluation/logged-episodes.js';
export {
  OFF_POLICY_ESTIMATORS,
  evaluateOffPolicy,
  type OffPolicyEstimate,
  type OffPolicyEstimator,
  type OffPolicyEvaluation,
  type OffPolicyOptions,
} from './evaluation/off-policy-evaluation.js';
export type { OffPolicyDiagnostics } from './evaluation/off-policy-diagnostics.js';
export {
  comparePaired,
  mcnemarPValue,
  type McnemarTest,
  type PairedComparison,
} from './evaluation/paired-comparison.js';
export { attemptFigures, type TaskAttempt, type AttemptFigures } from './evaluation/attempt-figures.js';
export { passAtK } from './evaluation/pass-at-k.js';
export { findPlateau, type PlateauRule } from './evaluation/plateau.js';
export { successRate, wilsonInterval, type SuccessRate } from './evaluation/success-rate.js';

export { effectiveSampleFraction } from './statistics/effective-sample-size.js';
export { countInversions, rankCorrelation, type RankCorrelation } from './statistics/rank-correlation.js';
export { explainedVariance } from './statistics/explained-variance.js';
export { ratioStatistics, type RatioStatistics } from './statistics/ratio-statistics.js';
