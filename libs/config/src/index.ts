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
  rejectionRules,
} from './recipe/algorithm-problems.js';
export { EndpointRecipe } from './recipe/endpoint-recipe.js';
export { requireFit, type EnvironmentFacts } from './recipe/environment-problems.js';
export {
  EnvironmentRecipe,
  EnvironmentServerRecipe,
  type EnvironmentProtocol,
} from './recipe/environment-recipe.js';
export { type EpisodeLimits, episodeLimits } from './recipe/episode-limits.js';
export {
  AdaptiveKlRecipe,
  ImportanceRecipe,
  LossRecipe,
  RejectionRuleRecipe,
  RolloutCorrectionRecipe,
} from './recipe/loss-recipe.js';
export { matrixProducts } from './recipe/matrix-products.js';
export { showText } from './recipe/show-value.js';
export { longestContext } from './recipe/model-problems.js';
export { ComputeRecipe, LoraRecipe, ModelRecipe, PolicyRecipe } from './recipe/model-recipe.js';
export { PreferenceRecipe } from './recipe/preference-recipe.js';
export {
  AdvantageRecipe,
  CheckpointRecipe,
  CollectionRecipe,
  ContextRecipe,
  EvaluationRecipe,
  ImitationRecipe,
  KeptWeightsRecipe,
  OptimizerRecipe,
  Recipe,
  ResamplingRecipe,
  RewardComponentRecipe,
  RewardRecipe,
} from './recipe/recipe.js';
export {
  listRecipes,
  parseRecipe,
  recipeHash,
  type RecipeOverrides,
  resolveEnvironment,
  resolveRecipe,
} from './recipe/resolve-recipe.js';
export { TaskContentsRecipe, TaskRecipe } from './recipe/task-recipe.js';
