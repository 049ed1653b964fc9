import type { Recipe } from '../recipe/recipe.js';
import { agentGymRecipes } from './agentgym.js';
import { banditPpo } from './bandit-ppo.js';
import { countdownImitation } from './countdown-imitation.js';
import { craftingImitation } from './crafting-imitation.js';
import { distillation } from './distillation.js';
import { frozenLakeDpo } from './frozen-lake-dpo.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';
import { frozenLakeImitation } from './frozen-lake-imitation.js';
import { frozenLakePpo } from './frozen-lake-ppo.js';
import { gridImitation } from './grid-imitation.js';
import { householdImitation } from './household-imitation.js';
import { memoryBanditGrpo } from './memory-bandit-grpo.js';
import { sokobanImitation } from './sokoban-imitation.js';

/** The built-in recipes by name. A recipe is a function that returns the whole typed configuration. */
export const recipes: Readonly<Record<string, () => Recipe>> = {
  'frozen-lake-ppo': frozenLakePpo,
  'frozen-lake-grpo': frozenLakeGrpo,
  'frozen-lake-dpo': frozenLakeDpo,
  'frozen-lake-imitation': frozenLakeImitation,
  distillation,
  'bandit-ppo': banditPpo,
  'memory-bandit-grpo': memoryBanditGrpo,
  'sokoban-imitation': sokobanImitation,
  'countdown-imitation': countdownImitation,
  'crafting-imitation': craftingImitation,
  'grid-imitation': gridImitation,
  'household-imitation': householdImitation,
  ...agentGymRecipes,
};
