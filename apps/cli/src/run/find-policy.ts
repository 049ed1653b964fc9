import type { EventLog } from '@retrace/log';
import type { PolicyPublished, RunState } from '@retrace/trajectory';
import { CliError } from '../cli-error.js';
import { findRun } from './find-run.js';

interface FoundPolicy {
  /** The run that published it. */
  readonly run: RunState;
  readonly policy: PolicyPublished;
}

/**
 * Finds a stored policy version: a number or `latest` of `run`, or of any other run of the log, as `<run>/<version>`.
 *
 * @throws CliError `POLICY_UNKNOWN`, `RUN_UNKNOWN`
 */
export async function findPolicy(log: EventLog, run: RunState, wanted: string): Promise<FoundPolicy> {
  const slash = wanted.lastIndexOf('/');
  const publisher = slash === -1 ? run : await findRun(log, wanted.slice(0, slash));
  const version = wanted.slice(slash + 1);
  const { policies, runId } = publisher;
  const policy =
    version === 'latest' ? policies.latest : /^\d+$/.test(version) ? policies.get(Number(version)) : null;
  if (policy) return { run: publisher, policy };
  const newest = policies.latest?.policyVersion;
  throw new CliError(
    'POLICY_UNKNOWN',
    `policy ${version} of run ${runId} does not exist; ` +
      (newest === undefined ? 'the run has published none' : `the run has versions 0 … ${newest}`),
  );
}
