import type { Recipe } from '../recipe/recipe.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';

/**
 * Behavior cloning of an agent that searches, then GRPO. The whole episode is one context, since the task is said only at its start. The agent
 * that knows where everything is could not be imitated: a policy does not see what that agent goes by. Actions repeat names that were read, so
 * the output head is tied to the embeddings.
 */
export function householdImitation(): Recipe {
  const base = frozenLakeGrpo();
  return {
    ...base,
    name: 'household-imitation',
    description:
      'Small rooms of ALFWorld, families place and clean: imitation of an agent that searches, then GRPO in groups of eight',
    environment: 'household-small',
    numUpdates: 150,
    context: { window: 'history', tokenizer: 'word', maxNewTokens: 8 },
    model: { ...base.model, maxPositions: 512, tieWordEmbeddings: true },
    imitation: {
      agent: 'searcher',
      numEpisodes: 12288,
      numUpdates: 200,
      episodesPerUpdate: 128,
      learningRate: 2e-3,
    },
    collection: { ...base.collection, groupsPerRound: 32, groupSize: 8, concurrentEpisodes: 256 },
    loss: { ...base.loss, entropyCoefficient: 0 },
    optimizer: { ...base.optimizer, learningRate: 2e-4, miniBatchActionTokens: 512 },
    evaluation: { everyUpdates: 20, numValidationEpisodes: 200, numTestEpisodes: 1000 },
  };
}
