import { collectsForTraining } from './data-problems.js';
import type { Recipe } from './recipe.js';

/** Checks how long a run is, and what its task files are for. */
export function taskProblems(recipe: Recipe): string[] {
  const { tasks, epochs, numUpdates, evaluation, data } = recipe;
  const problems: string[] = [];
  const hasUpdates = typeof numUpdates === 'number';
  const hasEpochs = typeof epochs === 'number';
  if (!hasUpdates && !hasEpochs)
    problems.push('"numUpdates" is required, or "epochs" with "tasks" or stored "data"');
  // A run that has begun has both: its recipe says how many updates the epochs are.
  const isOfStored = !collectsForTraining(recipe);
  const hasBegun = isOfStored ? data?.sources.every(({ contents }) => contents) : tasks?.contents;
  if (hasUpdates && hasEpochs && !hasBegun) {
    problems.push(`epochs: got ${epochs} with numUpdates ${numUpdates}, must be the only one of the two`);
  }
  if (hasEpochs && !tasks && !isOfStored)
    problems.push(`epochs: got ${epochs}, must be absent without "tasks" or stored "data"`);
  if (!tasks) return problems;
  const isDivided = tasks.validation === undefined && tasks.test === undefined;
  const needed = [
    ['validation', evaluation.everyUpdates > 0 ? evaluation.numValidationEpisodes : 0],
    ['test', evaluation.numTestEpisodes],
  ] as const;
  for (const [split, numEpisodes] of needed) {
    if (isDivided || numEpisodes === 0 || tasks[split] !== undefined) continue;
    problems.push(
      `"tasks.${split}" is required where evaluation plays ${numEpisodes} ${split} episodes; without validation and test files, the rows of train are divided`,
    );
  }
  return problems;
}
