import { ProblemError } from '../problems/problem.js';
import type { StoreService } from '../store/store.service.js';
import type { EpisodeParams } from './episodes.dto.js';
import { NUMBERED_KINDS } from './step-row.js';

const HAS_RECORDS = `
  SELECT 1 FROM events
  WHERE run_id = {runId:String} AND episode_id = {episodeId:String} AND kind IN ${NUMBERED_KINDS}
  LIMIT 1`;

/**
 * Why an episode is not found. One that has steps or an end but no start is not shown, as in lists: its group, its task and the time of its start are unknown.
 *
 * @param hasStarted whether its run has
 */
export async function missingEpisode(
  store: Pick<StoreService, 'queryRows'>,
  { runId, episodeId }: EpisodeParams,
  hasStarted: boolean,
): Promise<ProblemError> {
  const records = hasStarted ? await store.queryRows<object>(HAS_RECORDS, { runId, episodeId }) : [];
  const reason =
    records.length === 0
      ? 'an episode of the last seconds may not be stored yet'
      : 'its start is not in the store, though other records of it are';
  return new ProblemError('NOT_FOUND', `Episode ${episodeId} of run ${runId} not found; ${reason}`);
}
