import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { withStore } from '../../services/store-session.js';
import { verifyDataDirectory } from '../../services/verify-data-directory.js';

/**
 * Compares the store with the log and prints what was found.
 *
 * @throws CliError `STORE_FAULTY`
 */
export async function verify({ dataDir, json }: CommonOptions): Promise<void> {
  const report = await withStore({ dataDir }, verifyDataDirectory);
  console.log(json === true ? JSON.stringify(report, null, 2) : report.lines.join('\n'));
  if (report.numFaults > 0) {
    throw new CliError('STORE_FAULTY', `verify found ${report.numFaults} faults, listed above`);
  }
}
