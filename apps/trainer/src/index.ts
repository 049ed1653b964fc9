export { runTrainer } from './run-trainer.js';
export { Trainer, type EpisodeSource, type TrainerOptions } from './trainer.js';
export { computeUpdate, readsTexts, type UpdateInputs, type UpdateResult } from './update/compute-update.js';
export { PolicyState, type PolicyStateOptions, type StateFiles } from './checkpoint/policy-state.js';
export { recipeModelConfig } from './checkpoint/recipe-model.js';
export {
  replayTolerance,
  replayUpdate,
  type ReplayedMetric,
  type ReplayOptions,
  type ReplayResult,
} from './replay-update.js';
export { WorkerPool, type WorkerPoolOptions } from './data-parallel/worker-pool.js';
export { TrainerError, type TrainerErrorCode } from './trainer-error.js';
export {
  evaluatePolicy,
  POLICY_ESTIMATORS,
  type PolicyEstimate,
  type PolicyEstimator,
  type PolicyEvaluation,
  type PolicyEvaluationInput,
} from './evaluation/evaluate-policy.js';
export {
  findEligibleEpisodes,
  type EligibleEpisodes,
  type EligibleQuery,
} from './evaluation/eligible-episodes.js';
