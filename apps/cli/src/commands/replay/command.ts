import { Command } from '@commander-js/extra-typings';
import { backendOption, dataDirOption, jsonOption, verboseOption, wholeNumber } from '../../options.js';

export const replayCommand = () =>
  new Command('replay')
    .description('make a recorded update again from its manifest; exit code 1 when the loss is another one')
    .option('--run <id>', 'run, or "latest"', 'latest')
    .requiredOption('--update <number>', 'update to replay', wholeNumber(1))
    .addOption(backendOption())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { replayRecordedUpdate }, { renderTable }, { CliError }] = await Promise.all([
        import('../../services/store-session.js'),
        import('./replay.js'),
        import('../../terminal/table.js'),
        import('../../cli-error.js'),
      ]);
      const { isReproduced, ...result } = await withStore(options, (session) =>
        replayRecordedUpdate(session, {
          run: options.run,
          updateNumber: options.update,
          backend: options.backend,
        }),
      );
      if (options.json) {
        console.log(JSON.stringify({ isReproduced, ...result }, null, 2));
      } else {
        const rows = result.metrics.map(({ name, recorded, replayed }) => [name, recorded, replayed]);
        console.log(renderTable(['metric', 'recorded', 'replayed'], rows));
        console.log(
          `weights: ${result.sameWeights ? 'equal bit for bit' : 'not bit-equal (another backend or machine rounds otherwise)'}`,
        );
      }
      if (!isReproduced) {
        throw new CliError(
          'REPLAY_DIFFERS',
          `update ${String(options.update)}: the replayed loss differs by ${result.lossDifference.toExponential(2)} from the recorded one`,
        );
      }
    });
