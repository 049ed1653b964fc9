import { InvalidArgumentError } from '@commander-js/extra-typings';
import { backendOption, newCommand, runOption, wholeNumber, wholeNumberOrLatest } from '../../options.js';

export const evaluateCommand = () =>
  newCommand('evaluate')
    .description(
      'estimate the return of a stored policy version from episodes that other versions played; exits 3 when the data is insufficient',
    )
    .addOption(runOption('use the episodes of this run').default('latest'))
    .requiredOption(
      '--policy <version>',
      'policy version of the run, or "latest"; <run>/<version> for a policy of another run',
    )
    .option(
      '--reward-version <name>',
      'a reward version that the run was scored with (default: the rewards of the run itself)',
    )
    .option(
      '--behavior-version <version>',
      'only episodes that this policy version of the run played, or "latest"',
      wholeNumberOrLatest(0),
    )
    .option('--estimators <names>', 'estimators to use, separated by commas (default: all)', commaSeparated)
    .option('--gamma <discount>', 'discount per step, in [0, 1]', number(0, 1), 1)
    .option(
      '--min-effective <n>',
      'refuse to estimate from fewer effective episodes than this',
      number(1),
      30,
    )
    .option('--episodes <n>', 'read at most this many episodes, newest first', wholeNumber(1, 100_000), 2000)
    .option('--seed <n>', 'seed of the bootstrap', wholeNumber(0), 0)
    .addOption(backendOption())
    .action(async (_, command) => (await import('./evaluate.js')).evaluate(command.optsWithGlobals()));

function commaSeparated(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

function number(min: number, max = Infinity): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max) return value;
    const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`It must be a number ${range}.`);
  };
}
