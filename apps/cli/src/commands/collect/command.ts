import { Option } from '@commander-js/extra-typings';
import { backendOption, newCommand, wholeNumber } from '../../options.js';

export const collectCommand = () =>
  newCommand('collect')
    .description(
      'collect episodes with a scripted agent or the latest policy; with --run, work as a collector of a run on Kafka',
    )
    .addOption(
      new Option(
        '--run <id>',
        'collect for this run until it ends; "latest" waits for the newest unfinished run',
      ).conflicts(['environment', 'policy', 'episodes']),
    )
    .addOption(
      new Option(
        '--share <number/count>',
        'with --run: which of several collectors this is, such as 1/3; each plays its share of every round',
      )
        .env('RETRACE_COLLECTOR_SHARE')
        .default(''),
    )
    .option('--environment <name>', 'environment to act in')
    .option(
      '--policy <name>',
      'random, expert or another agent of the environment; "latest" is the newest trained policy',
    )
    .option('--episodes <number>', 'number of episodes', wholeNumber(1))
    .option('--seed <number>', 'seed of tasks and sampling', wholeNumber(0, 2 ** 31 - 1), 0)
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
      return collect({ environment, policy, episodes, ...others });
    });
