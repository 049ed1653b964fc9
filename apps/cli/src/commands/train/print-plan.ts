import { namesKafka } from '@retrace/process';
import { CliError } from '../../cli-error.js';
import { planProcesses, type PlannedProcess } from '../../run/planned-processes.js';
import { resolveTrainingRecipe, type TrainingOptions } from '../../run/training-recipe.js';
import { commandEnvironment } from '../../data-directory/environment.js';
import { renderTable } from '../../terminal/table.js';

/**
 * Prints the roles and servers that `train` with these options would start, and what must answer before. Looks at the recipe's fields, at no file or server that they name.
 *
 * @throws ConfigError; CliError `OPTION_INVALID` where the recipe or the processes are not of this command alone
 */
export async function printPlan(options: TrainingOptions): Promise<void> {
  if (namesKafka(commandEnvironment))
    throw new CliError('OPTION_INVALID', '--dry-run: with a Kafka broker each role is a command of its own');
  if (options.recipe === undefined)
    throw new CliError('OPTION_INVALID', '--dry-run: needs --recipe; that of stored data is in the store');
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
