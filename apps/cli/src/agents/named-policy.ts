import type { PolicyPublished, RunState } from '@retrace/trajectory';
import type { CheckpointFiles } from '@retrace/policy';
import { CliError } from '../cli-error.js';
import { keptPolicies, requireWeights } from '../run/find-policy.js';
import { PUBLISHING, publishingRun } from '../run/policy-name.js';

/** A policy that a request names as its model. */
export interface NamedPolicy {
  readonly run: RunState;
  /** A stored version; null follows the newest. */
  readonly policyVersion: number | null;
}

const POLICY_NAME = /^run:([^@]+)(?:@(\d+|first))?$/;

/**
 * Finds the policy of `run:<run>`, which follows the newest, of `run:<run>@<version>`, or of `run:<run>@first`, which is the oldest that is kept. Any other name is
 * left to the newest run that has published a policy.
 *
 * @param runs from oldest to newest
 * @throws CliError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`, `POLICY_UNKNOWN`, `POLICY_REMOVED`
 */
export async function namedPolicy(
  model: string | null,
  runs: readonly RunState[],
  checkpoints: CheckpointFiles,
): Promise<NamedPolicy> {
  const [, part, version] = POLICY_NAME.exec(model ?? '') ?? [];
  if (part === undefined) return { run: newestRun(runs), policyVersion: null };
  const run = publishingRun(runs, part);
  if (version === undefined) {
    if (run.policies.latest === null)
      throw new CliError('POLICY_UNKNOWN', `run ${run.runId} has published no policy yet`);
    return { run, policyVersion: null };
  }
  const policy = version === 'first' ? await firstKept(run, checkpoints) : run.policies.get(Number(version));
  if (!policy)
    throw new CliError(
      'POLICY_UNKNOWN',
      `policy ${version} of run ${run.runId} does not exist or is not kept`,
    );
  await requireWeights(run, policy, checkpoints);
  return { run, policyVersion: policy.policyVersion };
}

function newestRun(runs: readonly RunState[]): RunState {
  const newest = runs.findLast(PUBLISHING.has);
  if (newest === undefined) throw new CliError('POLICY_UNKNOWN', 'no run has published a policy yet');
  return newest;
}

async function firstKept(run: RunState, checkpoints: CheckpointFiles): Promise<PolicyPublished | undefined> {
  return (await keptPolicies(run, checkpoints)).at(0);
}
