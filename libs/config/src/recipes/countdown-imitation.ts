import type { Recipe } from '../recipe/recipe.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';

/**
 * Behavior cloning of solutions from the store, then GRPO. An expression of three numbers that the expert writes has seven words. Numbers go
 * up to 20: with those up to 10 there are about 2,300 tasks to train on, which imitation learns by heart, and held-out success stays near .4.
 */
export function countdownImitation(): Recipe {
  const base = frozenLakeGrpo();
  return {
    ...base,
    name: 'countdown-imitation',
    description:
      'Expressions of three numbers up to 20 that hit a target: imitation of solutions from the store, then GRPO in groups of eight',
    environment: 'countdown-wide',
    numUpdates: 80,
    context: { window: 'observation', tokenizer: 'word', maxNewTokens: 7 },
    imitation: {
      agent: 'expert',
      numEpisodes: 32768,
      numUpdates: 150,
      episodesPerUpdate: 512,
      learningRate: 1e-3,
    },
    collection: { ...base.collection, groupsPerRound: 64, groupSize: 8 },
    loss: { ...base.loss, entropyCoefficient: 0 },
    optimizer: { ...base.optimizer, learningRate: 1e-4, miniBatchActionTokens: 1024 },
  };
}
