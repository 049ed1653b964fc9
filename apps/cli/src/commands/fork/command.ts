import { Option } from '@commander-js/extra-typings';
import { backendOption, newCommand, runOption, wholeNumber } from '../../options.js';

export const forkCommand = () =>
  newCommand('fork')
    .description(
      'enter the environment again at a stored step and play on from there, as a run of its own; prints what the step is worth',
    )
    .addOption(runOption('the run of the episode').makeOptionMandatory())
    .requiredOption('--episode <id>', 'the episode')
    .requiredOption('--step <number>', 'act in this step; the first is 0', wholeNumber(0))
    .option('--action <text>', 'take this action in the step (default: the policy chooses)')
    .option(
      '--policy <name>',
      'who plays on: "run:<id>@<version>", "run:<id>" or "latest" for its newest, or a scripted agent (default: the one that acted in the step)',
    )
    .option('-n, --forks <number>', 'number of forks', wholeNumber(1, 100_000), 16)
    .option('--greedy', 'take the likeliest tokens instead of sampling')
    .option('--seed <number>', 'seed of sampling and chance after the step', wholeNumber(0, 2 ** 31 - 1), 0)
    .addOption(
      new Option('--chance <whose>', 'chance and sampling after the step: each fork’s own, or the episode’s')
        .choices(['own', 'parent'] as const)
        .default('own' as const),
    )
    .option('--trainable', 'close the group as one that may be trained on')
    .option(
      '--environment <name-or-file>',
      'environment to act in (default: that of the run); for episodes that "collect" played in a file of your own',
    )
    .addOption(backendOption())
    .action(async (_, command) => (await import('./fork.js')).fork(command.optsWithGlobals()));
