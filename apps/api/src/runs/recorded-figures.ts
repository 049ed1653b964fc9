import { Injectable } from '@nestjs/common';
import { asksAboutNow } from '../store/asked-moment.js';
import { StoreService } from '../store/store.service.js';
import type { RecordedFigures } from './runs.dto.js';

// The first record of an episode's end, and of each step, counts, as in the views. Rows are stored in the order of runs and episodes, so LIMIT BY
// takes a tenth of what GROUP BY does.
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
  SELECT run_id, sum(cost_usd) AS cost_usd
  FROM (
    SELECT run_id, usage[5] AS cost_usd
    FROM events
    WHERE run_id IN {runIds:Array(String)} AND episode_id != '' AND kind = 'StepRecorded' AND notEmpty(usage) AND isFinite(usage[5])
    ORDER BY run_id, episode_id, seq, log_offset
    LIMIT 1 BY run_id, episode_id, seq
  )
  GROUP BY run_id`;

/** Figures that took `t` to read are answered again for so many times `t`: lists are asked for every few seconds, and runs have millions of episodes. */
const KEPT_TIMES = 20;
const MOST_KEPT = 1_000;

type EpisodeFigures = Omit<RecordedFigures, 'costUsd'>;

const NO_EPISODES: EpisodeFigures = { numEpisodes: 0, success: null, meanReturn: null, numSteps: 0 };

interface Kept {
  readonly figures: RecordedFigures;
  /** By `performance.now()`. */
  readonly untilMs: number;
}

/** Reads the figures of runs that agents outside record. */
@Injectable()
export class RecordedFiguresReader {
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly store: StoreService) {}

  async read(runIds: readonly string[]): Promise<ReadonlyMap<string, RecordedFigures>> {
    if (!asksAboutNow()) return this.readNow(runIds);
    const startedMs = performance.now();
    const isDue = (runId: string) => (this.kept.get(runId)?.untilMs ?? 0) <= startedMs;
    const read = await this.readNow(runIds.filter(isDue));
    const untilMs = performance.now() + KEPT_TIMES * (performance.now() - startedMs);
    const figuresOf = new Map(
      runIds.flatMap((runId) => {
        const figures = read.get(runId) ?? this.kept.get(runId)?.figures;
        return figures === undefined ? [] : [[runId, figures] as const];
      }),
    );
    if (this.kept.size > MOST_KEPT) this.kept.clear();
    for (const [runId, figures] of read) this.kept.set(runId, { figures, untilMs });
    return figuresOf;
  }

  private async readNow(runIds: readonly string[]): Promise<ReadonlyMap<string, RecordedFigures>> {
    if (runIds.length === 0) return new Map();
    const [episodes, costs] = await Promise.all([
      this.store.queryRows<{ readonly runId: string } & EpisodeFigures>(EPISODES, { runIds }),
      this.store.queryRows<{ readonly runId: string; readonly costUsd: number }>(COSTS, { runIds }),
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
