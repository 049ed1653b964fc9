import type { StoreClient } from '../client/store-client.js';

/** A run that depends on another, and how. */
export interface RunReference {
  readonly runId: string;
  /** The end of a sentence: "trained on its episodes in 3 updates". */
  readonly how: string;
}

const TRAINED_ON_EPISODES = `
  SELECT run_id AS runId, uniqExact(update_number) AS numUpdates
  FROM (SELECT run_id, update_number, arrayJoin(episode_ids) AS episode_id FROM updates WHERE run_id != {runId:String})
  WHERE episode_id IN (SELECT episode_id FROM events WHERE run_id = {runId:String} AND episode_id != '')
  GROUP BY run_id
  ORDER BY run_id`;

/** Only trained weights that have a name: untrained ones follow from the seed, so equal ones do not show dependence. */
const STARTED_FROM_POLICY = `
  SELECT DISTINCT run_id AS runId
  FROM policies
  WHERE run_id != {runId:String} AND parent_version IS NULL AND weights_sha256 != '' AND weights_sha256 IN (
    SELECT weights_sha256 FROM policies WHERE run_id = {runId:String} AND parent_version IS NOT NULL
  )
  ORDER BY runId`;

const COLLECTED_WITH_POLICY = `
  SELECT run_id AS runId FROM runs
  WHERE run_id != {runId:String} AND JSONExtractString(recipe, 'fromRun') = {runId:String}
  ORDER BY runId`;

const TAUGHT_BY_POLICY = `
  SELECT run_id AS runId FROM runs
  WHERE run_id != {runId:String}
    AND JSONExtractString(recipe, 'distillation', 'teacher', 'policy', 'source', 'runId') = {runId:String}
  ORDER BY runId`;

/** Finds the runs that depend on this one. The store must be up to date with the log. */
export async function findRunReferences(client: StoreClient, runId: string): Promise<RunReference[]> {
  const params = { runId };
  const [trained, started, collected, taught] = await Promise.all([
    client.queryRows<{ runId: string; numUpdates: number }>(TRAINED_ON_EPISODES, { params }),
    client.queryRows<{ runId: string }>(STARTED_FROM_POLICY, { params }),
    client.queryRows<{ runId: string }>(COLLECTED_WITH_POLICY, { params }),
    client.queryRows<{ runId: string }>(TAUGHT_BY_POLICY, { params }),
  ]);
  return [
    ...trained.map((row) => ({
      runId: row.runId,
      how: `trained on its episodes in ${row.numUpdates} updates`,
    })),
    ...started.map((row) => ({ runId: row.runId, how: 'started from one of its policies' })),
    ...collected.map((row) => ({ runId: row.runId, how: 'collected with one of its policies' })),
    ...taught.map((row) => ({ runId: row.runId, how: 'learned from one of its policies' })),
  ];
}
