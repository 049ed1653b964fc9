import { durationMs, newCommand, runOption, wholeNumber } from '../../options.js';

export const retainCommand = () =>
  newCommand('retain')
    .description(
      'delete runs that are older than a given age, or of one run the episodes that are too old or too many',
    )
    .option(
      '--older-than <age>',
      'time since the last event of a run, or the last step of an episode, such as 30d, 12h or 45m',
      durationMs,
    )
    .addOption(runOption('delete episodes of this run instead of runs'))
    .option('--newest <n>', 'with --run, keep at most so many episodes, the newest', wholeNumber(0))
    .option('--dry-run', 'delete nothing; list what would be deleted')
    .option(
      '--force',
      'also delete runs that younger runs depend on, and episodes that updates were trained on',
    )
    .action(async (_, command) => {
      const { olderThan, newest, run, ...options } = command.optsWithGlobals();
      if (run !== undefined && (olderThan !== undefined || newest !== undefined)) {
        const { retainEpisodesOfRun } = await import('./retain-episodes.js');
        return retainEpisodesOfRun({ ...options, run, olderThan, newest });
      }
      if (newest !== undefined) return command.error("error: option '--newest <n>' needs '--run <run>'");
      if (olderThan === undefined)
        return command.error("error: required option '--older-than <age>' not specified");
      return (await import('./retain.js')).retain({ ...options, olderThan });
    });
