import type { Recipe } from '../recipe/recipe.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';

/**
 * Behavior cloning of the expert, then GRPO. The whole episode is one context, since the recipes are said only at its start. Actions repeat
 * words of the recipes: with an output head of its own and small initial weights, the policy never learned to.
 */
export function craftingImitation(): Recipe {
  const base = frozenLakeGrpo();
  return {
    ...base,
    name: 'crafting-imitation',
    description:
      'TextCraft with one or two levels of recipes: imitation of the expert from the store, then GRPO in groups of eight',
    environment: 'crafting-mini',
    numUpdates: 40,
    context: { window: 'history', tokenizer: 'word', maxNewTokens: 12 },
    model: { ...base.model, numLayers: 3, maxPositions: 512, tieWordEmbeddings: true },
    imitation: {
      agent: 'expert',
      numEpisodes: 32768,
      numUpdates: 640,
      episodesPerUpdate: 128,
      learningRate: 2e-3,
    },
    collection: { ...base.collection, groupsPerRound: 32, groupSize: 8, concurrentEpisodes: 256 },
    loss: { ...base.loss, entropyCoefficient: 0 },
    optimizer: { ...base.optimizer, learningRate: 2e-4, miniBatchActionTokens: 352 },
    evaluation: { everyUpdates: 20, numValidationEpisodes: 200, numTestEpisodes: 1000 },
  };
}
