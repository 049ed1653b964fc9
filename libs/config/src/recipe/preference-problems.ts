import { playsGreedyBaseline } from './algorithm-problems.js';
import { initialKlCoefficient } from './loss-recipe.js';
import type { Recipe } from './recipe.js';

/** Checks that a recipe which trains by preference has groups, and asks for nothing that needs advantages. */
export function preferenceProblems(recipe: Recipe): string[] {
  const { preference, collection, advantage, loss } = recipe;
  if (!preference) return [];
  const problems: string[] = [];
  const require = (field: string, value: unknown, rule: string, why: string) =>
    problems.push(`${field}: got ${JSON.stringify(value)}, must be ${rule} with preference: ${why}`);
  if (collection.groupSize < 2)
    require('collection.groupSize', collection.groupSize, 'at least 2', 'pairs are made within a group');
  if (preference.loss !== 'dpo' && (preference.labelSmoothing ?? 0) !== 0) {
    problems.push(
      `preference.labelSmoothing: got ${preference.labelSmoothing}, must be 0 or absent with preference.loss ${preference.loss}`,
    );
  }
  if (loss.valueCoefficient !== 0)
    require('loss.valueCoefficient', loss.valueCoefficient, '0', 'there are no returns for a critic to learn');
  const coefficient = initialKlCoefficient(loss);
  if (coefficient !== 0)
    require('loss.kl.coefficient', coefficient, '0', 'preference.beta holds the policy to the reference');
  if (loss.entropyFloor)
    require('loss.entropyFloor', loss.entropyFloor, 'null', 'only updates by advantages adapt the bonus');
  if (recipe.optimizer.guard)
    require('optimizer.guard', recipe.optimizer.guard, 'null', 'it guards the steps of the other updates');
  for (const field of ['rolloutCorrection', 'topEntropyFraction'] as const) {
    if (loss[field]) require(`loss.${field}`, loss[field], 'null', 'it corrects a loss of single tokens');
  }
  if (advantage.resampling)
    require('advantage.resampling', advantage.resampling, 'null', 'each group gives one pair');
  if (advantage.shuffle) require('advantage.shuffle', true, 'false', 'there are no advantages to permute');
  if (problems.length === 0 && playsGreedyBaseline(recipe))
    require('advantage.estimator', advantage.estimator, 'another', 'its greedy episodes would be in no pair');
  return problems;
}
