import { planProcesses, type PlannedProcess } from '../../run/planned-processes.js';
import { resolveTrainingRecipe, type TrainingOptions } from '../../run/training-recipe.js';
import { renderTable } from '../../terminal/table.js';

/**
 * Prints what `train` with these options would start, and what must answer before it. No file of a model and no server is looked at.
 *
 * @throws ConfigError for a recipe that would be refused
 */
export async function printPlan(options: TrainingOptions): Promise<void> {
  const recipe = resolveTrainingRecipe(options);
  const { collectors, store, json } = options;
  const plan = await planProcesses(recipe, { numCollectors: collectors, hasStore: store !== false });
  if (json === true) {
    console.log(JSON.stringify(plan, null, 2));
    return;
  }
  const rows = plan.map((planned) => [planned.process, planned.count, whatFor(planned)]);
  console.log(renderTable(['process', 'number', 'command'], rows));
}

function whatFor({ command, url }: PlannedProcess): string {
  return command === null ? `must answer at ${url ?? ''}` : command.map(quoted).join(' ');
}

/** As a shell takes it. */
function quoted(argument: string): string {
  return /^[\w@%+=:,./{}-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;
}
