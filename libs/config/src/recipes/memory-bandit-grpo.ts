import type { Recipe } from '../recipe/recipe.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';

/** Which arm pays must be found by pulling: eight turns in one context, with a KV cache. */
export function memoryBanditGrpo(): Recipe {
  const base = frozenLakeGrpo();
  return {
    ...base,
    name: 'memory-bandit-grpo',
    description: 'Eight pulls of two unknown arms in one context with a KV cache, GRPO with groups of eight',
    environment: 'memory-bandit',
    numUpdates: 120,
    context: { window: 'history', tokenizer: 'word', maxNewTokens: 1 },
    model: { ...base.model, maxPositions: 128 },
    compute: { matMulPrecision: 'float32' },
    collection: { ...base.collection, groupsPerRound: 32, groupSize: 8 },
    // The best agent pulls the same arm again, which pays again: four of five steps repeat the one before.
    monitors: { repeatedStepFraction: null },
    evaluation: { everyUpdates: 10, numValidationEpisodes: 400, numTestEpisodes: 2000 },
  };
}
