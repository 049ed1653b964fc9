import type { RunState } from '@retrace/trajectory';
import { CliError } from '../cli-error.js';
import { selectRun, type RunNeeds } from './find-run.js';
import { sayChosenRun } from './said-runs.js';

/** A run whose policies are here. */
export const PUBLISHING: RunNeeds = {
  has: ({ started, policies }) => started.runKind === 'trained' && policies.latest !== null,
  lacking: 'has published a policy',
};

/**
 * The run of which a policy is to be played.
 *
 * @throws CliError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`; `POLICY_REMOVED` for one that was recorded
 */
export function publishingRun(runs: readonly RunState[], wanted: string): RunState {
  const run = selectRun(runs, wanted, PUBLISHING);
  if (run.started.runKind === 'trained') return run;
  const rule = 'a trainer outside has the policies that it published';
  throw new CliError('POLICY_REMOVED', `run ${run.runId} was recorded, so no policy of it is here; ${rule}`);
}

/** The run, or a part of its id, that `latest` or `run:<id>[@<version>]` names; null for other players. */
export function runPart(policy: string): string | null {
  return policy === 'latest' ? policy : (/^run:([^@]+)(?:@.*)?$/.exec(policy)?.[1] ?? null);
}

/**
 * The name of a player with the whole id of its run, which may be named by a part of it. `latest` stays, as players find the newest run in the environment
 * themselves.
 *
 * @throws CliError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`
 */
export function wholePolicyName(policy: string, runs: readonly RunState[], environment: string): string {
  const part = runPart(policy);
  if (part === null) return policy;
  if (policy !== 'latest') {
    const { runId } = publishingRun(runs, part);
    return `run:${runId}${policy.slice('run:'.length + part.length)}`;
  }
  const newest = runs.findLast((run) => run.started.environment === environment && PUBLISHING.has(run));
  if (newest !== undefined) sayChosenRun(policy, newest);
  return policy;
}
