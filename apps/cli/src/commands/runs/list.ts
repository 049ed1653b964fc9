import type { CommonOptions } from '../../options.js';
import { withStore } from '../../services/store-session.js';
import { printQuery } from '../../queries/print-query.js';

const query = (archived: boolean): string => `
  SELECT run_id, name, tags, starred, ${archived ? 'archived, ' : ''}environment, seed, started_at, ended_at, end_reason,
         (SELECT count() FROM episodes WHERE episodes.run_id = runs.run_id) AS num_episodes,
         (SELECT max(update_number) FROM updates WHERE updates.run_id = runs.run_id) AS num_updates
  FROM runs ${archived ? '' : 'WHERE NOT archived'}
  ORDER BY started_at DESC`;

interface ListOptions extends CommonOptions {
  /** Whether archived runs are among them. */
  readonly archived?: true;
}

/** Prints the runs, newest first. */
export async function list({ dataDir, json, archived }: ListOptions): Promise<void> {
  await withStore({ dataDir }, (session) =>
    printQuery(session, { sql: query(archived === true), format: json === true ? 'json' : 'table' }),
  );
}
