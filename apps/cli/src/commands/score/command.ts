import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const scoreCommand = () =>
  new Command('score')
    .description(
      'score the stored episodes of a run under the rewards of a recipe; those scored already are kept',
    )
    .option('--run <id>', 'run, or "latest"', 'latest')
    .option('--recipe <name-or-file>', 'recipe with the rewards; default: the run’s own')
    .option('--name <name>', 'what to call this reward version; default: the recipe’s name')
    .option('--retry-missing', 'score again what has no total')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .addCommand(diffCommand())
    .action(async (options) => {
      const [{ withStore }, { scoreStoredRun }, { printScoreReport, progressPrinter }] = await Promise.all([
        import('../../services/store-session.js'),
        import('./score-stored-run.js'),
        import('./print-scores.js'),
      ]);
      const onProgress = options.json ? undefined : progressPrinter();
      const report = await withStore(options, (session) =>
        scoreStoredRun(session, { ...options, onProgress }),
      );
      if (options.json) console.log(JSON.stringify(report, null, 2));
      else printScoreReport(report);
    });

const diffCommand = () =>
  new Command('diff')
    .description('compare two reward versions over the episodes that both have scored')
    .argument('<a>', 'name or version')
    .argument('<b>', 'name or version')
    .option('--run <id>', 'run, or "latest"', 'latest')
    .option('--split <name>', 'only episodes of this split, e.g. train or test')
    .option('--limit <n>', 'longest lists', wholeNumber(0, 10_000), 10)
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (a, b, _, command) => {
      // Where "score" has an option of the same name, commander gives it to "score".
      const options = command.optsWithGlobals();
      const [{ withStore }, { diffScoresOfRun }, { printScoreDiff }] = await Promise.all([
        import('../../services/store-session.js'),
        import('./score-stored-run.js'),
        import('./print-scores.js'),
      ]);
      const diff = await withStore(options, (session) =>
        diffScoresOfRun(session, { run: options.run, a, b, split: options.split, limit: options.limit }),
      );
      if (options.json) console.log(JSON.stringify(diff, null, 2));
      else printScoreDiff(diff);
    });
