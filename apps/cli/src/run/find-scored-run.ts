import type { EventLog } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import type { RunNeeds } from '@retrace/runs';
import type { RunState } from '@retrace/trajectory';
import { findRun } from './find-run.js';

/** Finds a run as `findRun` does; `latest` is the newest that has scores of every one of these reward versions. */
export async function findScoredRun(
  { client, log }: { client: StoreClient; log: EventLog },
  wanted: string,
  versions: readonly string[],
): Promise<RunState> {
  return findRun(log, wanted, wanted === 'latest' ? await scoredUnder(client, versions) : undefined);
}

/**
 * Needs of a run that has scores of every one of these reward versions, each named by its name or its beginning. Where none has, a run with scores of
 * any will do, so that the versions that there are can be listed. Without versions, any run that has scores.
 */
async function scoredUnder(client: StoreClient, versions: readonly string[]): Promise<RunNeeds> {
  const rows = await client.queryRows<{ runId: string; hasAll: number }>(
    `SELECT run_id AS runId, arrayAll(wanted -> has(groupArray(name), wanted)
       OR length(wanted) >= 4 AND arrayExists(version -> startsWith(version, wanted), groupArray(reward_version)), {versions:Array(String)}) AS hasAll
     FROM reward_versions GROUP BY run_id`,
    { params: { versions } },
  );
  const fitting = rows.filter(({ hasAll }) => hasAll === 1);
  const scored = new Set((fitting.length > 0 ? fitting : rows).map(({ runId }) => runId));
  return {
    has: ({ runId }) => scored.has(runId),
    lacking: 'has scores; "retrace score" makes some, with --recipe where a run has no recipe',
  };
}
