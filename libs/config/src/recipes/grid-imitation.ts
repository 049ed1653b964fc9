import type { Recipe } from '../recipe/recipe.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';

/** Behavior cloning of the expert, then GRPO. The whole episode is one context, since the mission is said only at its start. */
export function gridImitation(): Recipe {
  const base = frozenLakeGrpo();
  return {
    ...base,
    name: 'grid-imitation',
    description:
      'Three families of BabyAI in one room: imitation of the expert from the store, then GRPO in groups of eight',
    environment: 'grid-small',
    numUpdates: 30,
    context: { window: 'history', tokenizer: 'word', maxNewTokens: 6 },
    model: { ...base.model, numKeyValueHeads: 4, maxPositions: 1536 },
    imitation: {
      agent: 'expert',
      numEpisodes: 12288,
      numUpdates: 300,
      episodesPerUpdate: 128,
      learningRate: 2e-3,
    },
    collection: { ...base.collection, groupsPerRound: 32, groupSize: 8, concurrentEpisodes: 256 },
    loss: { ...base.loss, entropyCoefficient: 0 },
    optimizer: { ...base.optimizer, learningRate: 1e-4, miniBatchActionTokens: 256 },
    evaluation: { everyUpdates: 50, numValidationEpisodes: 200, numTestEpisodes: 1000 },
  };
}
