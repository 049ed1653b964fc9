import { existsSync } from 'node:fs';
import { dataDirectoryAt } from '../../data-directory/environment.js';
import { verifyDataDirectory } from '../../services/verify-data-directory.js';
import { withStore } from '../../services/store-session.js';
import { runCheck, type CheckResult } from './check.js';

/** Compares the log and the store of a data directory. */
export function checkDataDirectory(dataDir: string): Promise<CheckResult> {
  return runCheck('data directory', async () => {
    if (!existsSync(dataDirectoryAt(dataDir).log)) {
      return { verdict: 'ok', detail: `${dataDir} does not exist yet; "retrace up" creates it` };
    }
    return withStore({ dataDir }, async (session) => {
      const holder = session.isLive ? ', held by a running server' : '';
      const { numFaults, lines } = await verifyDataDirectory(session);
      return numFaults === 0
        ? { verdict: 'ok', detail: `${dataDir}${holder}: ${lines.at(-1) ?? 'verified'}` }
        : { verdict: 'fail', detail: `${dataDir}${holder}: ${numFaults} faults; see "retrace verify"` };
    });
  });
}
