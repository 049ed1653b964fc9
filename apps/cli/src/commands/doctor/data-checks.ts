import { existsSync } from 'node:fs';
import { DataDirectory } from '@retrace/process';
import { verifyDataDirectory } from '../../services/verify-data-directory.js';
import { withStore } from '../../services/store-session.js';
import { runCheck, type CheckResult } from './check.js';

/** Opens log and store of a data directory, as a command would, and compares them. */
export function checkDataDirectory(dataDir: string): Promise<CheckResult> {
  return runCheck('data directory', async () => {
    if (!existsSync(new DataDirectory(dataDir).log)) {
      return { verdict: 'ok', detail: `${dataDir} is not there yet; "retrace up" makes it` };
    }
    return withStore({ dataDir }, async (session) => {
      const holder = session.isLive ? ', held by a running server' : '';
      const { numFaults, lines } = await verifyDataDirectory(session);
      return numFaults === 0
        ? { verdict: 'ok', detail: `${dataDir}${holder}: ${lines.at(-1) ?? 'verified'}` }
        : {
            verdict: 'fail',
            detail: `${dataDir}${holder}: ${String(numFaults)} faults; see "retrace verify"`,
          };
    });
  });
}
