import { Injectable } from '@nestjs/common';
import { isoTime } from '../store/store-time.js';
import { RunStarts } from '../store/run-starts.js';
import { StoreService } from '../store/store.service.js';
import type { EpisodeBranch, EpisodeBranches } from './branches.dto.js';
import type { EpisodeParams } from './episodes.dto.js';
import { FORK_RUNS, ForkService } from './fork.service.js';
import { missingEpisode } from './missing-episode.js';

const MAX_BRANCHES = 1_000;

const COLUMNS = 'agent, started_at, sealed, success, `return`, num_steps';

const IS_STORED = `
  SELECT 1 FROM events
  WHERE run_id = {runId:String} AND episode_id = {episodeId:String} AND kind = 'EpisodeStarted'
  LIMIT 1`;

/** Branches within the run. The starts of its episodes are searched, whose columns are many times smaller than the view. */
const WITHIN_RUN = `
  SELECT
    arrayJoin(arrayFilter(kind -> kind != '', [
      if(parent_episode_id = {episodeId:String}, 'call', ''),
      if(forked_from_episode_id = {episodeId:String} AND forked_from_run_id = run_id, 'fork', '')])) AS kind,
    if(kind = 'fork', forked_from_step, NULL) AS step, run_id, episode_id, ${COLUMNS}
  FROM stored_episodes
  WHERE run_id = {runId:String} AND episode_id IN (
    SELECT episode_id FROM events
    WHERE run_id = {runId:String} AND kind = 'EpisodeStarted'
      AND (parent_episode_id = {episodeId:String} OR position(payload, {episodeId:String}) > 0))`;

// Forks of another run are those of `retrace fork`; recorders make them within their run. The names of the columns that are selected would stand for the
// fork's own in a condition beside them.
const FORKS_IN_RUNS = `
  SELECT 'fork' AS kind, toNullable(step) AS step, fork_run_id AS run_id, fork_episode_id AS episode_id, ${COLUMNS}
  FROM (
    SELECT * FROM forks
    WHERE fork_run_id IN (${FORK_RUNS}) AND run_id = {runId:String} AND episode_id = {episodeId:String})`;

const listBranches = (parts: readonly string[]): string => `
  SELECT kind, step, run_id, episode_id, ${COLUMNS}
  FROM (${parts.join(' UNION ALL ')})
  ORDER BY started_at, episode_id
  LIMIT ${MAX_BRANCHES + 1}`;

/** Reads which episodes branch off another one. */
@Injectable()
export class BranchService {
  constructor(
    private readonly store: StoreService,
    private readonly starts: RunStarts,
    private readonly forks: ForkService,
  ) {}

  /** @throws ProblemError `NOT_FOUND` */
  async of({ runId, episodeId }: EpisodeParams): Promise<EpisodeBranches> {
    const key = { runId, episodeId };
    const [hasStarted, stored, hasForks] = await Promise.all([
      this.starts.has(runId),
      this.store.queryRows<object>(IS_STORED, key),
      this.forks.anyOfRun(runId),
    ]);
    if (!hasStarted || stored.length === 0) throw await missingEpisode(this.store, key, hasStarted);
    const sql = listBranches(hasForks ? [WITHIN_RUN, FORKS_IN_RUNS] : [WITHIN_RUN]);
    const rows = await this.store.queryRows<EpisodeBranch>(sql, key);
    return {
      items: rows.slice(0, MAX_BRANCHES).map((row) => ({ ...row, startedAt: isoTime(row.startedAt) })),
      truncated: rows.length > MAX_BRANCHES,
    };
  }
}
