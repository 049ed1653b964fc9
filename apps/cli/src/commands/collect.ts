import { Command } from '@commander-js/extra-typings';
import { backendOption, dataDirOption, jsonOption, verboseOption, wholeNumber } from '../options.js';

export const collectCommand = () =>
  new Command('collect')
    .description('collect episodes outside any training run, with a scripted agent or the latest policy')
    .requiredOption('--environment <name>', 'environment to act in')
    .requiredOption(
      '--policy <name>',
      'random, expert or another agent of the environment; latest = newest trained policy',
    )
    .requiredOption('--episodes <number>', 'how many', wholeNumber(1))
    .option('--seed <number>', 'seed of tasks and sampling', wholeNumber(0, 2 ** 31 - 1), 0)
    .addOption(backendOption())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { collectIntoLog }, { formatFigure }] = await Promise.all([
        import('../session/store-session.js'),
        import('../session/collect-into-log.js'),
        import('../run/run-progress.js'),
      ]);
      const result = await withStore({ dataDir: options.dataDir, create: true }, (session) =>
        collectIntoLog(session, { ...options, numEpisodes: options.episodes }),
      );
      if (options.json) {
        console.log(JSON.stringify(result));
        return;
      }
      console.log(
        `collected ${String(result.numEpisodes)} episodes as run ${result.runId}: ` +
          `success ${formatFigure(result.success)}, mean return ${formatFigure(result.meanReturn)}`,
      );
    });
