import type { PolicyPublished, RunState } from '@retrace/trajectory';
import type { CheckpointFiles } from '@retrace/policy';
import { keptPolicies, publishingRun, PUBLISHING, requireWeights } from '@retrace/runs';
import { CliError } from '../cli-error.js';
import { sayChosenRun } from '../run/said-runs.js';

/** A policy that a request names as its model. */
export interface NamedPolicy {
  readonly run: RunState;
  /** A stored version; null follows the newest. */
  readonly policyVersion: number | null;
}

const PREFIX = 'run:';
const POLICY_NAME = /^run:([^@]+)(?:@(\d+|first))?$/;

/**
 * Finds the policy of `run:<run>`, which follows the newest, of `run:<run>@<version>`, or of `run:<run>@first`, which is the oldest that is kept. Any name
 * that does not begin with `run:` is left to the newest run that has published a policy.
 *
 * @param runs from oldest to newest
 * @throws RunsError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`; CliError `POLICY_UNKNOWN`
 */
export async function namedPolicy(
  model: string | null,
  runs: readonly RunState[],
  checkpoints: CheckpointFiles,
): Promise<NamedPolicy> {
  if (model?.startsWith(PREFIX) !== true) return { run: newestRun(runs), policyVersion: null };
  const [, part, version] = POLICY_NAME.exec(model) ?? [];
  if (part === undefined)
    throw new CliError(
      'POLICY_UNKNOWN',
      `policy "${model}" must be run:<run>, run:<run>@<version> or run:<run>@first`,
    );
  const run = publishingRun(runs, part, sayChosenRun);
  if (version === undefined) {
    if (run.policies.latest === null)
      throw new CliError('POLICY_UNKNOWN', `run ${run.runId} has published no policy yet`);
    return { run, policyVersion: null };
  }
  const policy =
    version === 'first' ? (await keptPolicies(run, checkpoints)).at(0) : run.policies.get(Number(version));
  if (!policy)
    throw new CliError(
      'POLICY_UNKNOWN',
      `policy ${version} of run ${run.runId} does not exist or is not kept`,
    );
  return { run, policyVersion: policy.policyVersion };
}

/**
 * Requires that the weights of a stored version are kept.
 *
 * @throws RunsError `POLICY_REMOVED`
 */
export async function requirePolicy(
  { run, policyVersion }: NamedPolicy,
  checkpoints: CheckpointFiles,
): Promise<void> {
  const policy: PolicyPublished | undefined =
    policyVersion === null ? undefined : run.policies.get(policyVersion);
  if (policy !== undefined) await requireWeights(run, policy, checkpoints);
}

function newestRun(runs: readonly RunState[]): RunState {
  const newest = runs.findLast(PUBLISHING.has);
  if (newest === undefined) throw new CliError('POLICY_UNKNOWN', 'no run has published a policy yet');
  return newest;
}
