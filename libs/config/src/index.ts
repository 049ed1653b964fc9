export { plainAssignments, type PlainValue } from './recipe/plain-overrides.js';
export { listAlgorithms } from './algorithms/algorithm-presets.js';
export {
  bestVersions,
  type ValidatedVersions,
  isValidatedAfter,
  validationPlateau,
  type ValidationPlateau,
} from './evaluation/validated-versions.js';
export { agentSettings, type AgentSettings } from './recipe/agent-problems.js';
export {
  AgentRecipe,
  HistoryRecipe,
  InvalidActionRecipe,
  ToolRecipe,
  type Truncation,
} from './recipe/agent-recipe.js';
export { ConfigError, type ConfigErrorCode } from './config-error.js';
export {
  playsGreedyBaseline,
  policyLossOptions,
  proximalPolicy,
  readsBehaviorLogprobs,
  rejectionRules,
} from './recipe/algorithm-problems.js';
export {
  collectsForTraining,
  comparesGroups,
  dataSources,
  needsCollector,
  needsValidator,
} from './recipe/data-problems.js';
export { DataContentsRecipe, type DataOrigin, DataRecipe, DataSourceRecipe } from './recipe/data-recipe.js';
export { resolveEngine } from './recipe/engine-problems.js';
export { isColocated, isValidatorColocated } from './recipe/colocation.js';
export { ProcessRecipe } from './recipe/process-recipe.js';
export { EngineRecipe } from './recipe/engine-recipe.js';
export { EndpointRecipe, endpointUrls, MAX_LOGPROB_DIFFERENCE } from './recipe/endpoint-recipe.js';
export { asksServerForAnchors, requireFit, type EnvironmentFacts } from './recipe/environment-problems.js';
export {
  EnvironmentRecipe,
  EnvironmentServerRecipe,
  type EnvironmentProtocol,
} from './recipe/environment-recipe.js';
export { type EpisodeLimits, episodeLimits } from './recipe/episode-limits.js';
export {
  AdaptiveKlRecipe,
  EntropyFloorRecipe,
  ImportanceRecipe,
  initialKlCoefficient,
  KlRecipe,
  LossRecipe,
  RejectionRuleRecipe,
  RolloutCorrectionRecipe,
} from './recipe/loss-recipe.js';
export { EarlyStopRecipe, EvaluationRecipe } from './recipe/evaluation-recipe.js';
export { DistillationRecipe, TeacherEndpointRecipe, TeacherRecipe } from './recipe/distillation-recipe.js';
export { InitRecipe, InitSourceRecipe } from './recipe/init-recipe.js';
export { withoutExpertDefaults } from './recipe/expert-fields.js';
export { explainRecipe } from './recipe/explain-recipe.js';
export { requireInside } from './resolve/outside-fields.js';
export { matrixProducts } from './recipe/matrix-products.js';
export { showText } from './recipe/show-value.js';
export { longestContext } from './recipe/model-problems.js';
export { ComputeRecipe, hasAdapters, LoraRecipe, ModelRecipe, PolicyRecipe } from './recipe/model-recipe.js';
export { MonitorsRecipe } from './recipe/monitors-recipe.js';
export { CriticOptimizerRecipe, OptimizerRecipe, StepGuardRecipe } from './recipe/optimizer-recipe.js';
export { PreferenceRecipe } from './recipe/preference-recipe.js';
export { CollectionRecipe, ContextRecipe } from './recipe/collection-recipe.js';
export {
  AdvantageRecipe,
  ResamplingRecipe,
  RewardComponentRecipe,
  RewardRecipe,
} from './recipe/reward-recipe.js';
export { CheckpointRecipe, ImitationRecipe, KeptWeightsRecipe, Recipe } from './recipe/recipe.js';
export {
  isRecipe,
  listRecipes,
  parseRecipe,
  type RecipeOverrides,
  resolveEnvironment,
  overrideRecipe,
  resolvePlainRecipe,
  resolveRecipe,
} from './resolve/resolve-recipe.js';
export { type DeclaredField, declaredFields } from './recipe/declared-fields.js';
export { recipeHash, requestHash } from './resolve/recipe-hash.js';
export { KL_FIELDS, withPresentFields } from './recipe/moved-fields.js';
export { recordedRecipe } from './resolve/recorded-recipe.js';
export { whatIfRecipe } from './resolve/what-if-recipe.js';
export { recipeDifferences, type RecipeDifference } from './recipe/recipe-differences.js';
export {
  CurriculumRecipe,
  LimiterRecipe,
  SamplerRecipe,
  SqlPriorityRecipe,
} from './recipe/sampler-recipe.js';
export { TaskContentsRecipe, TaskRecipe } from './recipe/task-recipe.js';
