import { Option } from '@commander-js/extra-typings';
import { newCommand, numberFrom, wholeNumber } from '../../options.js';
import { IMPORT_FORMATS } from './import-formats.js';

export const importCommand = () =>
  newCommand('import')
    .description(
      'import a run that "export" wrote, or rollouts, conversations and traces of other tools as a recorded run; a second import of the same data adds nothing',
    )
    .argument('<path>', 'file to read, or directory with files of one format')
    .addOption(
      new Option('--format <name>', 'format of the data (default: found out by its first rows)').choices(
        IMPORT_FORMATS,
      ),
    )
    .option('--run <name>', 'name of the run; imports under the same name add to the same run')
    .option('--environment <name>', 'environment of episodes whose data names none')
    .option(
      '--verify',
      'replay the actions in the environment, compare each observation, and fill in rewards and last observations that the data lacks; exits 1 when an episode differs',
    )
    .option(
      '--environment-url <url>',
      'with --verify: replay on this AgentGym server (babyai, textcraft) instead of in a built-in environment',
    )
    .option(
      '--seed <number>',
      'with --verify: seed of the tasks that are searched for an episode without task',
      wholeNumber(0, 2 ** 31 - 1),
      0,
    )
    .option(
      '--temperature <number>',
      'temperature, without top-k and top-p, that tokens were sampled at whose data does not say it, as ATIF can not',
      numberFrom(0, 100),
    )
    .addOption(
      new Option(
        '--logprobs <kind>',
        'whether the logprobs of such tokens are after temperature ("processed") or before it (default: "raw")',
      ).choices(['processed', 'raw'] as const),
    )
    .option('--tokenizer <directory>', 'model directory whose tokenizer made such tokens')
    .option('--report <file>', 'write what became of each row to this file, as a JSON object a line')
    .action(async (path, _, command) => {
      const options = command.optsWithGlobals();
      const { importPath } = await import('./import-path.js');
      return importPath(path, options);
    });
