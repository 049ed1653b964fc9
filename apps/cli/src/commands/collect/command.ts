import { Option } from '@commander-js/extra-typings';
import {
  backendOption,
  metricsPortOption,
  newCommand,
  numberFrom,
  readTemperature,
  runOption,
  wholeNumber,
} from '../../options.js';

export const collectCommand = () =>
  newCommand('collect')
    .description(
      'collect episodes with a scripted agent or the newest policy, as a run of their own; with --run, work as a collector of a run on Kafka',
    )
    .addOption(
      runOption('collect for this run until it ends (waits for an unfinished training run)').conflicts([
        'environment',
        'policy',
        'episodes',
        'temperature',
        'topK',
        'topP',
      ]),
    )
    .addOption(
      new Option(
        '--share <number/count>',
        'with --run: this collector’s share of every round, such as 1/3 for the first of three',
      )
        .env('RETRACE_COLLECTOR_SHARE')
        .default(''),
    )
    .option(
      '--environment <name-or-file>',
      'environment to act in: a built-in one, a module (.ts, .js, .mjs), or a .json or .jsonc file as the field of a recipe',
    )
    .option(
      '--policy <name>',
      'random, expert or another scripted agent of the environment, or "latest": the newest policy that was trained in it',
    )
    .option('--episodes <number>', 'number of episodes', wholeNumber(1))
    .option('--seed <number>', 'seed of tasks and sampling', wholeNumber(0, 2 ** 31 - 1), 0)
    .option('--temperature <number>', 'of sampling (default: as in training)', readTemperature)
    .option('--top-k <number>', 'sample only among this many most likely tokens', wholeNumber(1))
    .option(
      '--top-p <share>',
      'sample only among the likeliest tokens of this probability',
      numberFrom(0.001, 1),
    )
    .addOption(metricsPortOption('with --run, the metrics of this collector'))
    .addOption(backendOption())
    .action(async (_, command) => {
      const { run, environment, policy, episodes, ...others } = command.optsWithGlobals();
      if (run !== undefined) {
        return (await import('./collect-for-run.js')).collectForRun({ run, ...others });
      }
      if (environment === undefined || policy === undefined || episodes === undefined) {
        return command.error("error: required: '--environment', '--policy' and '--episodes', or '--run'");
      }
      const { collect } = await import('./collect-episodes.js');
      const { temperature, topK, topP, metricsPort: _port, ...rest } = others;
      return collect({ environment, policy, episodes, sampling: { temperature, topK, topP }, ...rest });
    });
