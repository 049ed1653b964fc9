import type { Recipe } from '@retrace/config';
import { parseRecipe } from '@retrace/config';
import { EnvironmentSourceError } from '../errors.js';
import { readTaskFiles } from './read-task-files.js';

/**
 * Completes a recipe that has task files: `tasks.contents` tells what they have now, and `numUpdates` follows from `epochs`:
 * ⌊epochs · training rows / groups in a round⌋. Batches run over the ends of epochs, so only the last epoch leaves rows out,
 * fewer than one batch.
 *
 * @throws EnvironmentSourceError `TASKS_INVALID` naming file, row and field, or a split that is evaluated and has no rows
 */
export async function completeTasks(recipe: Recipe): Promise<Recipe> {
  const { tasks, epochs, environment, evaluation, collection } = recipe;
  if (!tasks) return recipe;
  const contents = await readTaskFiles(tasks, {
    isQuestion: environment === 'question',
    take: () => undefined,
  });
  for (const [split, numRows, numEpisodes] of [
    [
      'validation',
      contents.numValidation,
      evaluation.everyUpdates > 0 ? evaluation.numValidationEpisodes : 0,
    ],
    ['test', contents.numTest, evaluation.numTestEpisodes],
  ] as const) {
    if (numEpisodes > 0 && numRows === 0) {
      throw new EnvironmentSourceError(
        'TASKS_INVALID',
        `tasks.${split}: has no rows, must have some where evaluation plays ${numEpisodes} ${split} episodes`,
      );
    }
  }
  const numUpdates =
    epochs === undefined
      ? recipe.numUpdates
      : Math.floor((epochs * contents.numTrain) / collection.groupsPerRound);
  if (numUpdates < 1) {
    throw new EnvironmentSourceError(
      'TASKS_INVALID',
      `epochs: got ${epochs}, with ${contents.numTrain} training rows that is less than one update of ${collection.groupsPerRound} groups`,
    );
  }
  return parseRecipe({ ...JSON.parse(JSON.stringify(recipe)), numUpdates, tasks: { ...tasks, contents } });
}
