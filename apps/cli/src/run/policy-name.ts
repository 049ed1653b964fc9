import { publishingRun, PUBLISHING } from '@retrace/runs';
import type { RunState } from '@retrace/trajectory';
import { sayChosenRun } from './said-runs.js';

/** The run, or a part of its id, that `latest` or `run:<id>[@<version>]` names; null for other players. */
export function runPart(policy: string): string | null {
  return policy === 'latest' ? policy : (/^run:([^@]+)(?:@.*)?$/.exec(policy)?.[1] ?? null);
}

/**
 * The name of a player with the whole id of its run, which may be named by a part of it. `latest` stays, as players find the newest run in the environment
 * themselves.
 *
 * @throws RunsError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`
 */
export function wholePolicyName(policy: string, runs: readonly RunState[], environment: string): string {
  const part = runPart(policy);
  if (part === null) return policy;
  if (policy !== 'latest') {
    const { runId } = publishingRun(runs, part, sayChosenRun);
    return `run:${runId}${policy.slice('run:'.length + part.length)}`;
  }
  const newest = runs.findLast((run) => run.started.environment === environment && PUBLISHING.has(run));
  if (newest !== undefined) sayChosenRun(policy, newest);
  return policy;
}
