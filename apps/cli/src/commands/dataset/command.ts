import { Option } from '@commander-js/extra-typings';
import { newCommand, wholeNumber } from '../../options.js';

/** The keys of `DATASET_FORMATS`; a spec compares them, so that `--help` need not load the library. */
export const FORMAT_NAMES = ['sft', 'dpo', 'reward-pairs', 'prompts', 'conversations', 'atif'] as const;

export const datasetCommand = () =>
  newCommand('dataset')
    .description('make data sets of stored episodes for other trainers, and list them')
    .addCommand(createCommand())
    .addCommand(registerCommand())
    .addCommand(listCommand())
    .addCommand(verifyCommand());

const createCommand = () =>
  newCommand('create')
    .description('make a named data set, which never changes, of the episodes or steps that a query chooses')
    .argument('<name>', 'name of the data set, and of its directory under datasets/ in the data directory')
    .requiredOption(
      '--sql <query>',
      'one SELECT with run_id and episode_id, and optionally step and split; "-" reads it from standard input',
    )
    .addOption(new Option('--format <format>', 'what a row is').choices(FORMAT_NAMES).makeOptionMandatory())
    .addOption(
      new Option('--file-format <format>', 'format of the files')
        .choices(['jsonl', 'parquet'])
        .default('jsonl'),
    )
    .option(
      '--split <shares>',
      'shares of the splits, such as train=0.9,test=0.1; a task is in one split only',
    )
    .option('--seed <number>', 'seed of the choice of splits', wholeNumber(0), 0)
    .option(
      '--score <name>',
      'what pairs compare: return, success, or the name of a reward that was assigned to episodes',
      'return',
    )
    .option('--drop-duplicates', 'keep only the first of rows with equal conversations')
    .option('--n-gram <words>', 'words of an n-gram of the contamination check', wholeNumber(1, 100), 13)
    .option('--require-clean', 'make nothing if a split has a task, state or n-gram of the largest split')
    .addHelpText(
      'after',
      '\nExample:\n  retrace dataset create solved --format sft --split train=0.9,test=0.1 \\\n' +
        '    --sql "SELECT run_id, episode_id FROM episodes WHERE success"',
    )
    .action(async (name, _, command) =>
      (await import('./create.js')).create(name, command.optsWithGlobals()),
    );

const registerCommand = () =>
  newCommand('register')
    .description(
      'list a data set of the data directory in the log, where `create` was cut short or the directory was copied',
    )
    .argument('<name>', 'name of the data set')
    .action(async (name, _, command) =>
      (await import('./register.js')).register(name, command.optsWithGlobals()),
    );

const listCommand = () =>
  newCommand('list')
    .description('list the data sets in a data directory')
    .option('--episode <id>', 'only those with a row that is made of this episode')
    .action(async (_, command) => (await import('./list.js')).list(command.optsWithGlobals()));

const verifyCommand = () =>
  newCommand('verify')
    .description('compare the files of a data set with the hashes in its manifest')
    .argument('<name>', 'name of the data set')
    .action(async (name, _, command) =>
      (await import('./verify.js')).verify(name, command.optsWithGlobals()),
    );
