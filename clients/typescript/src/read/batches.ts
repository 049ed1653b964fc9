import type { Table } from 'apache-arrow';
import type { ApiConnection } from '../wire/api-connection.js';
import { RetraceError } from '../wire/retrace-error.js';
import { queryArrow } from './query.js';
import type { ReadOptions } from './read-options.js';

export interface BatchOptions extends ReadOptions {
  /** Episodes a page (default 100). */
  readonly numEpisodes?: number;
  /** A condition in SQL on the view `episodes`, for example `split = 'train' AND success`. */
  readonly where?: string;
}

/** Episodes that have ended, with all their steps. Rows of `steps` are in the order of `episodes`, then of their numbers. */
export interface Batch {
  readonly episodes: Table;
  /** With the tokens that each step appended: `token_ids`, `action_mask`, `token_logprobs`, `token_policy_versions`. */
  readonly steps: Table;
}

const EPISODE_COLUMNS =
  'episode_id, group_id, environment, split, agent, task, success, return, num_steps, num_tokens';
const STEP_COLUMNS =
  'episode_id, step, reward, kept_prefix_tokens, token_ids, action_mask, token_logprobs, token_policy_versions';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** As many rows as the server gives in one answer. */
const MAX_STEPS = 999_999;

/** @throws RetraceError `REFUSED` for a run id that is none, and for a condition that the store refuses */
export async function* readBatches(
  connection: ApiConnection,
  runId: string,
  { numEpisodes = 100, where = '1', signal }: BatchOptions,
): AsyncGenerator<Batch> {
  if (!UUID.test(runId)) throw new RetraceError('REFUSED', `A run id is a lower-case UUID, got "${runId}"`);
  const query = (sql: string, maxRows: number) =>
    queryArrow(connection, sql, { maxRows, ...(signal && { signal }) });
  let after = '';
  for (;;) {
    // The condition stands on lines of its own, so that a comment in it hides nothing.
    const episodes = await query(
      `SELECT ${EPISODE_COLUMNS} FROM episodes WHERE run_id = '${runId}' AND sealed AND episode_id > '${after}' AND (\n${where}\n) ` +
        `ORDER BY episode_id LIMIT ${Math.floor(numEpisodes)}`,
      numEpisodes,
    );
    if (episodes.numRows === 0) return;
    const ids = listIds(episodes);
    after = ids[ids.length - 1];
    const listed = ids.map((id) => `'${id}'`).join(', ');
    const steps = await query(
      `SELECT ${STEP_COLUMNS} FROM steps WHERE run_id = '${runId}' AND episode_id IN (${listed}) ORDER BY episode_id, step`,
      MAX_STEPS,
    );
    yield { episodes, steps };
  }
}

function listIds(episodes: Table): string[] {
  const column = episodes.getChild('episode_id');
  return Array.from({ length: episodes.numRows }, (_, row) => String(column?.get(row)));
}
