import type { Recipe } from '../recipe/recipe.js';
import { frozenLakePpo } from './frozen-lake-ppo.js';

/** Two named arms, one turn: the smallest thing that learns, in seconds. */
export function banditPpo(): Recipe {
  const base = frozenLakePpo();
  return {
    ...base,
    name: 'bandit-ppo',
    description: 'Two named arms, one turn, PPO with a critic: learns in seconds',
    environment: 'bandit',
    numUpdates: 60,
    compute: { matMulPrecision: 'float32' },
    collection: { ...base.collection, groupsPerRound: 256 },
    evaluation: { everyUpdates: 10, numValidationEpisodes: 200, numTestEpisodes: 1000 },
    optimizer: { ...base.optimizer, miniBatchActionTokens: 128 },
  };
}
