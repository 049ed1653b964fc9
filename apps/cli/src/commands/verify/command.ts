import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const verifyCommand = () =>
  new Command('verify')
    .description(
      'check that the store holds every acknowledged event once, without a gap; exit code 1 on any fault',
    )
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      const [{ withStore }, { verifyDataDirectory }, { CliError }] = await Promise.all([
        import('../../services/store-session.js'),
        import('../../services/verify-data-directory.js'),
        import('../../cli-error.js'),
      ]);
      const report = await withStore(options, verifyDataDirectory);
      console.log(options.json ? JSON.stringify(report, null, 2) : report.lines.join('\n'));
      if (report.numFaults > 0) {
        throw new CliError('STORE_FAULTY', `verify found ${String(report.numFaults)} faults, listed above`);
      }
    });
