import type { Recipe } from '../recipe/recipe.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';

/**
 * A policy of a seventh of the weights learns from the newest `frozen-lake-ppo`, which must have ended: it plays, and the teacher judges each of
 * its moves. No reward is read.
 */
export function distillation(): Recipe {
  const base = frozenLakeGrpo();
  return {
    ...base,
    name: 'distillation',
    description:
      'Random 4×4 frozen lakes: a smaller policy learns from the newest frozen-lake-ppo by on-policy distillation',
    numUpdates: 60,
    model: {
      ...base.model,
      numLayers: 1,
      hiddenSize: 32,
      numHeads: 2,
      numKeyValueHeads: 1,
      intermediateSize: 88,
    },
    collection: { ...base.collection, groupsPerRound: 256, groupSize: 1, concurrentEpisodes: 256 },
    advantage: { estimator: 'reinforcePlusPlus', options: {}, shuffle: false },
    loss: { ...base.loss, entropyCoefficient: 0 },
    distillation: { teacher: { policy: { run: 'frozen-lake-ppo' } } },
    updateTokens: true,
    evaluation: { ...base.evaluation, everyUpdates: 10 },
  };
}
