import { needsValidator } from './data-problems.js';
import type { Recipe } from './recipe.js';

/** Checks that a recipe which validates or tests has episodes for it, and that what depends on validation has one. */
export function evaluationProblems(recipe: Recipe): string[] {
  const { everyUpdates, numValidationEpisodes, greedy = true, samplesPerTask = 0 } = recipe.evaluation;
  const problems: string[] = [];
  if (everyUpdates > 0 && numValidationEpisodes === 0) {
    problems.push(
      'evaluation.numValidationEpisodes: got 0, must be positive where evaluation.everyUpdates is',
    );
  }
  if (needsValidator(recipe) && !greedy && samplesPerTask === 0) {
    problems.push(
      'evaluation.samplesPerTask: got 0, must be positive where evaluation.greedy is false: no episode would be played',
    );
  }
  return [...problems, ...earlyStopProblems(recipe)];
}

function earlyStopProblems({ evaluation, checkpoint }: Recipe): string[] {
  if (!evaluation.earlyStop) return [];
  const problems: string[] = [];
  if (evaluation.everyUpdates === 0) {
    problems.push(
      'evaluation.everyUpdates: got 0, must be positive with evaluation.earlyStop: there would be no validation',
    );
  }
  if (checkpoint.weights?.keepBest === 0) {
    problems.push(
      'checkpoint.weights.keepBest: got 0, must be positive with evaluation.earlyStop: the best policy is what training stops for',
    );
  }
  return problems;
}
