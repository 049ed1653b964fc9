import { collect, newCommand, runOption } from '../../options.js';

export const deleteCommand = () =>
  newCommand('delete')
    .description('delete episodes of a run for ever, from log and store; "runs delete" deletes a whole run')
    .addOption(runOption('delete episodes of this run').makeOptionMandatory())
    .option('--episode <id>', 'delete this episode (repeatable)', collect)
    .option('--tag <tag>', 'delete every episode that has this tag now')
    .option('--dry-run', 'delete nothing; list what would be deleted')
    .option('--force', 'also delete episodes that updates were trained on, which then can’t be replayed')
    .addHelpText('after', '\nThe files keep free room with what was in it until "retrace compact".')
    .action(async (_, command) => (await import('./delete.js')).deleteSome(command.optsWithGlobals()));
