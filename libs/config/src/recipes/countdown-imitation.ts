import type { Recipe } from '../recipe/recipe.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';

/**
 * Behavior cloning of solutions from the store, then GRPO. An expression of three numbers that the expert writes has seven words. Imitation
 * ends early, since held-out success falls again after some 120 updates: there are about 2,300 different tasks to train on.
 */
export function countdownImitation(): Recipe {
  const base = frozenLakeGrpo();
  return {
    ...base,
    name: 'countdown-imitation',
    description:
      'Expressions of three numbers that hit a target: imitation of solutions from the store, then GRPO in groups of eight',
    environment: 'countdown',
    numUpdates: 100,
    context: { window: 'observation', tokenizer: 'word', maxNewTokens: 7 },
    imitation: {
      agent: 'expert',
      numEpisodes: 16384,
      numUpdates: 60,
      episodesPerUpdate: 512,
      learningRate: 1e-3,
    },
    collection: { ...base.collection, groupsPerRound: 64, groupSize: 8 },
    loss: { ...base.loss, entropyCoefficient: 0 },
    optimizer: { ...base.optimizer, learningRate: 1e-4, miniBatchActionTokens: 1024 },
  };
}
