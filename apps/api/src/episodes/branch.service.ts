import { Injectable } from '@nestjs/common';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { EpisodeBranch, EpisodeBranches } from './branches.dto.js';
import type { EpisodeParams } from './episodes.dto.js';

const COLUMNS = 'agent, started_at, sealed, success, `return`, num_steps';

/** Starts of the run's episodes, whose columns are many times smaller than the view of the episodes. */
const STARTED = `SELECT episode_id FROM events WHERE run_id = {runId:String} AND kind = 'EpisodeStarted'`;

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
    FROM forks
    WHERE run_id = {runId:String} AND episode_id = {episodeId:String}
  )
  ORDER BY started_at, episode_id
  LIMIT 1000`;

/** Reads which episodes branch off another one. */
@Injectable()
export class BranchService {
  constructor(private readonly store: StoreService) {}

  /** Empty for an episode without branches, and for one that does not exist. */
  async of({ runId, episodeId }: EpisodeParams): Promise<EpisodeBranches> {
    const rows = await this.store.queryRows<EpisodeBranch>(LIST_BRANCHES, { runId, episodeId });
    return { items: rows.map((row) => ({ ...row, startedAt: isoTime(row.startedAt) })) };
  }
}
