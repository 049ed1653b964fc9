import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const exportCommand = () =>
  new Command('export')
    .description('write a run into one file (an Arrow IPC stream), to keep or to import elsewhere')
    .requiredOption('--run <id>', 'run to export')
    .requiredOption('--output <file>', 'file to write; replaced when it is there')
    .option('--checkpoints', 'with its checkpoint files')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { exportRunToFile }] = await Promise.all([
        import('../../services/store-session.js'),
        import('./export-run.js'),
      ]);
      const { run: runId, output: path } = options;
      const { isIdentical: _, ...report } = await withStore(options, (session) =>
        exportRunToFile(session, { runId, path, withCheckpoints: options.checkpoints === true }),
      );
      if (options.json) {
        console.log(JSON.stringify(report));
        return;
      }
      const { numEvents, numCheckpointFiles, numDeadLetters, rowHash } = report;
      console.log(
        `run ${runId}: ${numEvents.toLocaleString('en')} events and ${String(numCheckpointFiles)} checkpoint files in ${path}` +
          (rowHash === null ? '' : `, row hash ${rowHash}`) +
          (numDeadLetters === 0
            ? ''
            : `; ${String(numDeadLetters)} records that are no valid events were left out`),
      );
    });
