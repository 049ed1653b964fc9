import { Option } from '@commander-js/extra-typings';
import { newCommand, runOption, wholeNumber } from '../../options.js';

export const auditCommand = () =>
  newCommand('audit')
    .description('hold what a run is trained for against what it reaches')
    .addCommand(rewardsCommand());

const rewardsCommand = () =>
  newCommand('rewards')
    .description(
      'hold the rewards of scored episodes against their success: what pays failures, what rose while the success fell, and episodes to read',
    )
    .addOption(runOption('audit this run').default('latest'))
    .option(
      '--reward-version <name>',
      'name, version or the beginning of one that the run was scored with (default: the one named last; "retrace score" makes one)',
    )
    .addOption(
      new Option('--split <name>', 'only episodes of this split')
        .choices(['train', 'validation', 'test', 'all'])
        .default('train'),
    )
    .option(
      '--stretches <n>',
      'cut the history into this many stretches of equally many episodes, at least ten each (10 to 1000)',
      wholeNumber(10, 1000),
      20,
    )
    .option('--limit <n>', 'at most this many episodes in each list', wholeNumber(0, 10_000), 5)
    .action(async (_, command) =>
      (await import('./audit-rewards.js')).auditStoredRewards(command.optsWithGlobals()),
    );
