import type { CommonOptions } from '../../options.js';
import { withStore } from '../../services/store-session.js';
import { printQuery } from '../../terminal/print-query.js';

const QUERY = `
  SELECT run_id, name, environment, seed, started_at, ended_at, end_reason,
         (SELECT count() FROM episodes WHERE episodes.run_id = runs.run_id) AS num_episodes,
         (SELECT max(update_number) FROM updates WHERE updates.run_id = runs.run_id) AS num_updates
  FROM runs ORDER BY started_at DESC`;

/** Prints the runs, newest first. */
export async function list({ dataDir, json }: CommonOptions): Promise<void> {
  await withStore({ dataDir }, (session) =>
    printQuery(session, { sql: QUERY, format: json === true ? 'json' : 'table' }),
  );
}
