import { Option } from '@commander-js/extra-typings';
import { CliError } from '../../cli-error.js';
import { newCommand, runOption, wholeNumber } from '../../options.js';

const DEFAULT_EPISODES = 20;

export const exportCommand = () =>
  newCommand('export')
    .description(
      'write a run to a single file: an Arrow IPC stream, to keep it or import it elsewhere, or a page',
    )
    .addOption(runOption('export this run').makeOptionMandatory())
    .requiredOption('--output <file>', 'file to write; replaced if it exists')
    .addOption(new Option('--checkpoints', 'include its checkpoint files').conflicts('html'))
    .option('--html', 'write a page that a browser opens without a server, of at most 20 MB')
    .addOption(
      new Option(
        '--episodes <number>',
        `newest episodes of each split in the page (default: ${DEFAULT_EPISODES})`,
      ).argParser(wholeNumber(0, 10_000)),
    )
    .action(async (_, command) => {
      const { html, episodes, ...options } = command.optsWithGlobals();
      if (html === true) {
        const { exportRunToPage } = await import('./export-page.js');
        await exportRunToPage({ ...options, episodes: episodes ?? DEFAULT_EPISODES });
        return;
      }
      if (episodes !== undefined) throw new CliError('OPTION_INVALID', 'export: --episodes needs --html');
      await (await import('./export-run.js')).exportRunToFile(options);
    });
