import type { Recipe } from '../recipe/recipe.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';

/**
 * Behavior cloning of the expert, then GRPO. The whole episode is one context, since the recipes are said only at its start. Actions repeat
 * words of the recipes: with an output head of its own and small initial weights, the policy never learned to. GRPO takes small steps: nearly
 * every group is solved by all of its episodes or by none, and steps of 1e-4 and more made a policy worse that imitation had brought to .88.
 */
export function craftingImitation(): Recipe {
  const base = frozenLakeGrpo();
  return {
    ...base,
    name: 'crafting-imitation',
    description:
      'TextCraft with one or two levels of recipes: imitation of the expert from the store, then GRPO in groups of eight',
    environment: 'crafting-mini',
    numUpdates: 20,
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
    advantage: { estimator: 'grpo', options: {} },
    optimizer: { ...base.optimizer, learningRate: 3e-5, miniBatchActionTokens: 352 },
    evaluation: { everyUpdates: 20, numValidationEpisodes: 200, numTestEpisodes: 1000 },
  };
}
