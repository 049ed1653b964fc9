import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const importCommand = () =>
  new Command('import')
    .description('bring a run that "export" wrote into a data directory that does not have it')
    .argument('<file>', 'file to read; checked to its end before anything changes')
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (path, options) => {
      const [{ withStore }, { importRunFromFile }, { CliError }] = await Promise.all([
        import('../../services/store-session.js'),
        import('../export/export-run.js'),
        import('../../cli-error.js'),
      ]);
      const { numDeadLetters: _, ...report } = await withStore(
        { dataDir: options.dataDir, create: true },
        (session) => importRunFromFile(session, { path }),
      );
      const { runId, numEvents, numCheckpointFiles, rowHash, isIdentical } = report;
      if (options.json) console.log(JSON.stringify(report));
      else {
        console.log(
          `run ${runId}: ${numEvents.toLocaleString('en')} events and ${String(numCheckpointFiles)} checkpoint files imported, ` +
            `row hash ${String(rowHash)}${isIdentical === true ? ', identical to what was exported' : ''}`,
        );
      }
      if (isIdentical === false) {
        throw new CliError(
          'IMPORT_DIFFERS',
          `run ${runId}: its rows are not those that were exported; other code may project them otherwise, see "retrace verify"`,
        );
      }
    });
