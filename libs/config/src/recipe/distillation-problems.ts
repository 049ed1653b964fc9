import { engineOf } from './engine-problems.js';
import type { Recipe } from './recipe.js';

/** Checks that a recipe with a teacher names one, and trains by advantages of single tokens. */
export function distillationProblems(recipe: Recipe): string[] {
  const { distillation, advantage, preference, loss } = recipe;
  if (!distillation) return [];
  const { policy, model, fingerprint } = distillation.teacher;
  const problems: string[] = [];
  if (Boolean(policy) === Boolean(model)) {
    problems.push(
      `distillation.teacher: got ${policy ? 'both policy and model' : 'neither policy nor model'}, must have one of them`,
    );
  }
  if (fingerprint && !model)
    problems.push('distillation.teacher.fingerprint: must be absent without distillation.teacher.model');
  if (model && engineOf(recipe).kind === 'torch') {
    problems.push(
      `distillation.teacher.model: got "${model}", must be absent with engine "torch", which evaluates policies of its own model only; name a policy of a run`,
    );
  }
  if (preference)
    problems.push(
      'distillation: must be null with preference: pairs of episodes have no advantages of tokens',
    );
  if (loss.valueCoefficient !== 0 && !distillation.withReward) {
    problems.push(
      `loss.valueCoefficient: got ${loss.valueCoefficient}, must be 0 without distillation.withReward: nothing would read the values of a critic`,
    );
  }
  if (advantage.shuffle)
    problems.push(
      'advantage.shuffle: got true, must be false with distillation: it permutes no advantage of a teacher',
    );
  return problems;
}
