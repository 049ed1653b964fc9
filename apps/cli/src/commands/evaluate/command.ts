import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { backendOption, dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const evaluateCommand = () =>
  new Command('evaluate')
    .description(
      'estimate what a stored policy version would get from episodes that other versions acted out; exit code 1 when they cannot tell',
    )
    .option('--run <id>', 'run, or "latest"', 'latest')
    .requiredOption(
      '--policy <version>',
      'policy version of the run, or "latest"; of another run: <run id>/<version>',
    )
    .option(
      '--reward-version <name>',
      'a version that the run was scored under; default: the run’s own rewards',
    )
    .option('--behavior-version <version>', 'only episodes that this version acted out', wholeNumber(0))
    .option('--estimators <names>', 'some of the estimators, with commas', commaSeparated)
    .option('--gamma <discount>', 'discount per step, in [0, 1]', number(0, 1), 1)
    .option('--min-effective <n>', 'fewest effective episodes that an estimate may stand on', number(1), 30)
    .option('--episodes <n>', 'most episodes read, the newest', wholeNumber(1, 100_000), 2000)
    .option('--seed <n>', 'of the bootstrap', wholeNumber(0), 0)
    .addOption(backendOption())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { evaluateStoredPolicy }, { estimatorsOf, printEvaluation }, { CliError }] =
        await Promise.all([
          import('../../services/store-session.js'),
          import('./evaluate-stored-policy.js'),
          import('./print-evaluation.js'),
          import('../../cli-error.js'),
        ]);
      const estimators = estimatorsOf(options.estimators);
      const report = await withStore(options, (session) =>
        evaluateStoredPolicy(session, {
          run: options.run,
          policy: options.policy,
          rewardVersion: options.rewardVersion,
          behaviorVersion: options.behaviorVersion,
          estimators,
          gamma: options.gamma,
          minEffectiveEpisodes: options.minEffective,
          maxEpisodes: options.episodes,
          seed: options.seed,
          backend: options.backend,
        }),
      );
      if (options.json) console.log(JSON.stringify(report, null, 2));
      else printEvaluation(report);
      if (report.refusal !== null) throw new CliError('EVALUATION_REFUSED', `evaluate: ${report.refusal}`);
    });

function commaSeparated(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

function number(min: number, max = Infinity): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max) return value;
    const range = max === Infinity ? `of at least ${String(min)}` : `from ${String(min)} to ${String(max)}`;
    throw new InvalidArgumentError(`It must be a number ${range}.`);
  };
}
