import { Injectable } from '@nestjs/common';
import { StoreService } from '../store/store.service.js';
import type { RecordedFigures } from './runs.dto.js';

// The first end of an episode counts, as in the view `episodes`. Rows lie in the order of runs and episodes, so LIMIT BY takes a tenth of what GROUP BY does.
const EPISODES = `
  SELECT run_id, count() AS num_episodes, avgOrNull(toFloat64(success)) AS success, avgOrNull(return) AS mean_return,
    sum(num_steps) AS num_steps
  FROM (
    SELECT run_id, success, return, num_steps
    FROM events
    WHERE run_id IN {runIds:Array(String)} AND episode_id != '' AND kind = 'EpisodeEnded'
    ORDER BY run_id, episode_id, log_offset
    LIMIT 1 BY run_id, episode_id
  )
  GROUP BY run_id`;

const COSTS = `
  SELECT run_id, sumOrNull(cost_usd) AS cost_usd
  FROM steps
  WHERE run_id IN {runIds:Array(String)}
  GROUP BY run_id`;

type EpisodeFigures = Omit<RecordedFigures, 'costUsd'>;

const NO_EPISODES: EpisodeFigures = { numEpisodes: 0, success: null, meanReturn: null, numSteps: 0 };

/** Reads the figures of runs that agents outside record. */
@Injectable()
export class RecordedFiguresReader {
  constructor(private readonly store: StoreService) {}

  async read(runIds: readonly string[]): Promise<ReadonlyMap<string, RecordedFigures>> {
    if (runIds.length === 0) return new Map();
    const [episodes, costs] = await Promise.all([
      this.store.queryRows<{ readonly runId: string } & EpisodeFigures>(EPISODES, { runIds }),
      this.store.queryRows<{ readonly runId: string; readonly costUsd: number | null }>(COSTS, { runIds }),
    ]);
    const episodesOf = new Map(episodes.map(({ runId, ...figures }) => [runId, figures]));
    const costOf = new Map(costs.map(({ runId, costUsd }) => [runId, costUsd]));
    return new Map(
      runIds.map((runId) => [
        runId,
        { ...(episodesOf.get(runId) ?? NO_EPISODES), costUsd: costOf.get(runId) ?? null },
      ]),
    );
  }
}
