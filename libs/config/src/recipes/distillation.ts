import type { Recipe } from '../recipe/recipe.js';
import { frozenLakeGrpo } from './frozen-lake-grpo.js';

/**
 * A new policy learns from the newest `frozen-lake-ppo`, which must have ended: it plays, and the teacher judges each of its moves, also in episodes
 * that fail, of which imitation learns nothing. Their rewards are not trained on.
 */
export function distillation(): Recipe {
  const base = frozenLakeGrpo();
  return {
    ...base,
    name: 'distillation',
    description:
      'Random 4×4 frozen lakes: a new policy learns from the newest frozen-lake-ppo by on-policy distillation',
    numUpdates: 60,
    collection: { ...base.collection, groupsPerRound: 64, groupSize: 1, concurrentEpisodes: 64 },
    advantage: { estimator: 'reinforcePlusPlus', options: {} },
    loss: { ...base.loss, entropyCoefficient: 0 },
    distillation: { teacher: { policy: { run: 'frozen-lake-ppo' } } },
    updateTokens: true,
    evaluation: { ...base.evaluation, everyUpdates: 10 },
  };
}
