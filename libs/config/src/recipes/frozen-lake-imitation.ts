import type { Recipe } from '../recipe/recipe.js';
import { frozenLakePpo } from './frozen-lake-ppo.js';

/** Behavior cloning of shortest paths from the store, then PPO. */
export function frozenLakeImitation(): Recipe {
  const base = frozenLakePpo();
  return {
    ...base,
    name: 'frozen-lake-imitation',
    description:
      'Random 4×4 frozen lakes: imitation of shortest paths from the store, then PPO with a critic',
    numUpdates: 110,
    imitation: {
      agent: 'expert',
      numEpisodes: 4096,
      numUpdates: 120,
      episodesPerUpdate: 256,
      learningRate: 1e-3,
    },
    optimizer: { ...base.optimizer, learningRate: 3e-4 },
  };
}
