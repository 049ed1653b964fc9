import { Option } from '@commander-js/extra-typings';
import { newCommand, runArgument } from '../../options.js';

export const runsCommand = () =>
  newCommand('runs')
    .description('list the runs in a data directory, newest first')
    .option('--archived', 'list archived runs too')
    .addCommand(annotateCommand())
    .addCommand(deleteCommand())
    .action(async (_, command) => (await import('./list.js')).list(command.optsWithGlobals()));

const annotateCommand = () =>
  newCommand('annotate')
    .description('change tags, notes, star or archive of a run; what is not named stays')
    .addArgument(runArgument('change this run'))
    .addOption(
      new Option('--tags <tags>', 'in place of its tags, with commas between them; "" for none').argParser(
        listed,
      ),
    )
    .option('--notes <text>', 'in place of its notes; "" for none')
    .option('--star', 'mark it as one of the important ones')
    .option('--no-star', 'remove the mark')
    .option('--archive', 'leave it out of lists; nothing is deleted')
    .option('--no-archive', 'put it back into lists')
    .action(async (run, _, command) =>
      (await import('./annotate.js')).annotate(run, command.optsWithGlobals()),
    );

function listed(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ''))];
}

const deleteCommand = () =>
  newCommand('delete')
    .description('delete a run from log, store and checkpoints')
    .addArgument(runArgument('delete this run'))
    .option('--force', 'delete it even if other runs depend on it')
    .action(async (runId, _, command) =>
      (await import('./delete.js')).deleteOne(runId, command.optsWithGlobals()),
    );
