import type { Recipe } from '../recipe/recipe.js';
import { frozenLakePpo } from './frozen-lake-ppo.js';

/** Behavior cloning of shortest solutions from the store, then PPO. */
export function sokobanImitation(): Recipe {
  const base = frozenLakePpo();
  return {
    ...base,
    name: 'sokoban-imitation',
    description:
      'Random 6×6 rooms with one box: imitation of shortest solutions from the store, then PPO with a critic',
    environment: 'sokoban',
    numUpdates: 80,
    imitation: {
      agent: 'expert',
      numEpisodes: 8192,
      numUpdates: 120,
      episodesPerUpdate: 256,
      learningRate: 1e-3,
    },
    collection: { ...base.collection, groupsPerRound: 256, concurrentEpisodes: 256 },
    // A solved room pays 10.9: scaled down so that the critic's loss does not drown the policy's.
    reward: { ...base.reward, components: [{ reward: 'environment', weight: 0.1 }] },
    optimizer: { ...base.optimizer, learningRate: 2e-4 },
  };
}
