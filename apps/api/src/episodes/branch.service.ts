import { Injectable } from '@nestjs/common';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { EpisodeBranch, EpisodeBranches } from './branches.dto.js';
import { episodeNotFound } from './episode.service.js';
import type { EpisodeParams } from './episodes.dto.js';

const MAX_BRANCHES = 1_000;

const COLUMNS = 'agent, started_at, sealed, success, `return`, num_steps';

/** Starts of the run's episodes, whose columns are many times smaller than the view of the episodes. */
const STARTED = `SELECT episode_id FROM events WHERE run_id = {runId:String} AND kind = 'EpisodeStarted'`;

const IS_STORED = `
  SELECT 1 FROM events
  WHERE run_id = {runId:String} AND episode_id = {episodeId:String} AND kind = 'EpisodeStarted'
  LIMIT 1`;

// Forks of another run are those of `retrace fork`; recorders make them within their run.
const LIST_BRANCHES = `
  SELECT kind, step, run_id, episode_id, ${COLUMNS}
  FROM (
    SELECT 'call' AS kind, CAST(NULL, 'Nullable(UInt64)') AS step, run_id, episode_id, ${COLUMNS}
    FROM episodes
    WHERE run_id = {runId:String} AND episode_id IN (${STARTED} AND parent_episode_id = {episodeId:String})
    UNION ALL
    SELECT 'fork' AS kind, forked_from_step AS step, run_id, episode_id, ${COLUMNS}
    FROM episodes
    WHERE run_id = {runId:String} AND episode_id IN (${STARTED} AND position(payload, {episodeId:String}) > 0)
      AND forked_from_episode_id = {episodeId:String} AND forked_from_run_id = run_id
    UNION ALL
    SELECT 'fork' AS kind, toNullable(step) AS step, fork_run_id AS run_id, fork_episode_id AS episode_id, ${COLUMNS}
    -- The names of the columns that are selected would stand for the fork's own in a condition beside them.
    FROM (SELECT * FROM forks WHERE run_id = {runId:String} AND episode_id = {episodeId:String})
  )
  ORDER BY started_at, episode_id
  LIMIT ${MAX_BRANCHES + 1}`;

/** Reads which episodes branch off another one. */
@Injectable()
export class BranchService {
  constructor(private readonly store: StoreService) {}

  /** @throws ProblemError `NOT_FOUND` */
  async of({ runId, episodeId }: EpisodeParams): Promise<EpisodeBranches> {
    const key = { runId, episodeId };
    const [rows, stored] = await Promise.all([
      this.store.queryRows<EpisodeBranch>(LIST_BRANCHES, key),
      this.store.queryRows<object>(IS_STORED, key),
    ]);
    if (stored.length === 0) throw episodeNotFound(key);
    return {
      items: rows.slice(0, MAX_BRANCHES).map((row) => ({ ...row, startedAt: isoTime(row.startedAt) })),
      truncated: rows.length > MAX_BRANCHES,
    };
  }
}
