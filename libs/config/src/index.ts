export { ConfigError, type ConfigErrorCode } from './config-error.js';
export { ProcessError, type ProcessErrorCode } from './process-error.js';
export { DataDirectory, type Credentials, type ServerAddress } from './data-directory.js';
export { logInDirectory, namesKafka, readLogConfig, type LogConfig } from './log-config.js';
export {
  AdvantageRecipe,
  CheckpointRecipe,
  CollectionRecipe,
  ComputeRecipe,
  ContextRecipe,
  EvaluationRecipe,
  ImitationRecipe,
  LoraRecipe,
  ModelRecipe,
  OptimizerRecipe,
  PolicyRecipe,
  Recipe,
  RewardComponentRecipe,
  RewardRecipe,
} from './recipe/recipe.js';
export {
  AdaptiveKlRecipe,
  ImportanceRecipe,
  LossRecipe,
  RejectionRuleRecipe,
  RolloutCorrectionRecipe,
} from './recipe/loss-recipe.js';
export {
  playsGreedyBaseline,
  policyLossOptions,
  proximalPolicy,
  rejectionRules,
} from './recipe/algorithm-problems.js';
export { longestContext } from './recipe/model-problems.js';
export { matrixProducts } from './recipe/matrix-products.js';
export {
  listRecipes,
  parseRecipe,
  recipeHash,
  resolveRecipe,
  type RecipeOverrides,
} from './recipe/resolve-recipe.js';
export { readRoleConfig, RoleConfig, roleEnvironment, type SupervisedRoleConfig } from './role-config.js';
export { trainerInputs, type TrainerInput } from './recipe/trainer-inputs.js';
export { runRole } from './run-role.js';
export { readShare, type Share } from './share.js';
export { superviseThisProcess, type RoleMessage, type Supervised } from './supervised.js';
export { keepHeartbeatFile } from './heartbeat-file.js';
