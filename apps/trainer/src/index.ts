export { countKeptCheckpoints, keptCheckpoints } from './checkpoint/kept-checkpoints.js';
export { runTrainer } from './run-trainer.js';
export { Trainer, type TrainerOptions } from './trainer.js';
export type { FactsSource } from './plan/batch-sampler.js';
export type { EpisodeSource } from './plan/episode-source.js';
export { computeUpdate } from './update/compute-update.js';
export { openEndpointTeacher } from './teacher/endpoint-teacher.js';
export type { UpdateInputs } from './update/update-inputs.js';
export { readsTexts } from './update/update-inputs.js';
export type { UpdateResult } from './update/result/update-result.js';
export { TensorflowEngine, type TensorflowEngineOptions } from './engine/tensorflow-engine.js';
export { openEngine } from './engine/open-engine.js';
export type { EngineState, EvaluatedTokens, UpdateEngine } from './engine/update-engine.js';
export { recipeModelConfig } from './engine/recipe-model.js';
export {
  replayUpdate,
  type ReplayedMetric,
  type ReplayedOptimizerStep,
  type ReplayOptions,
  type ReplayResult,
} from './replay/replay-update.js';
export type { ReplaySource } from './replay/replayer.js';
export {
  replayRun,
  type DifferingPolicy,
  type ReplayedRun,
  type ReplayRunOptions,
} from './replay/replay-run.js';
export { storedRewards } from './what-if/stored-rewards.js';
export {
  type ChangedRewards,
  whatIf,
  type WhatIfOptions,
  type WhatIfResult,
  type WhatIfUpdate,
} from './what-if/what-if.js';
export { WorkerPool, type WorkerPoolOptions } from './data-parallel/worker-pool.js';
export { TrainerError, type TrainerErrorCode } from './trainer-error.js';
export {
  evaluatePolicy,
  type PolicyEvaluation,
  type PolicyEvaluationInput,
} from './evaluation/evaluate-policy.js';
export { POLICY_ESTIMATORS, type PolicyEstimate, type PolicyEstimator } from './evaluation/q-estimates.js';
export { checkLogprobs, type LogprobCheck } from './evaluation/check-logprobs.js';
export {
  drawSampledEpisodes,
  findEligibleEpisodes,
  type EligibleEpisodes,
  type EligibleQuery,
  type SampledEpisodes,
} from './evaluation/eligible-episodes.js';
