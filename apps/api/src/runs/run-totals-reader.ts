import { Injectable } from '@nestjs/common';
import { asksAboutNow } from '../store/asked-moment.js';
import { StoreService } from '../store/store.service.js';
import type { RunTotals } from './run-totals.dto.js';
import type { RecordedFigures } from './runs.dto.js';

/** Of runs that have started: events of others are left out, as in the views. */
const OF_STARTED_RUNS = `run_id IN (
      SELECT run_id FROM events WHERE run_id IN {runIds:Array(String)} AND episode_id = '' AND kind = 'RunStarted')`;

// The first record of an episode's end, and of each step that states its usage, counts. Rows are stored in the order of runs and episodes, so LIMIT BY
// takes a tenth of what GROUP BY by episode does.
const EPISODES = `
  SELECT run_id, count() AS num_episodes, countIf(kind != 'EpisodeEnded') AS num_ongoing, countIf(success = true) AS num_successes,
    countIf(success = false) AS num_failures, avgOrNull(return) AS mean_return, sum(num_steps) AS num_steps
  FROM (
    SELECT run_id, kind, success, return, num_steps
    FROM events
    WHERE ${OF_STARTED_RUNS} AND episode_id != '' AND kind IN ('EpisodeStarted', 'EpisodeEnded')
    ORDER BY run_id, episode_id, kind = 'EpisodeEnded' DESC, log_offset
    LIMIT 1 BY run_id, episode_id
  )
  GROUP BY run_id`;

const USAGE = `
  SELECT run_id, toUInt64OrNull(toString(sumOrNullIf(usage[1], isFinite(usage[1])))) AS input_tokens,
    toUInt64OrNull(toString(sumOrNullIf(usage[3], isFinite(usage[3])))) AS output_tokens,
    sumOrNullIf(usage[5], isFinite(usage[5])) AS cost_usd
  FROM (
    SELECT run_id, usage
    FROM events
    WHERE ${OF_STARTED_RUNS} AND episode_id != '' AND kind = 'StepRecorded' AND notEmpty(usage)
    ORDER BY run_id, episode_id, seq, log_offset
    LIMIT 1 BY run_id, episode_id, seq
  )
  GROUP BY run_id`;

type UsageTotals = Pick<RunTotals, 'inputTokens' | 'outputTokens' | 'costUsd'>;
type EpisodeTotals = Omit<RunTotals, keyof UsageTotals>;

const NO_EPISODES: EpisodeTotals = {
  ...{ numEpisodes: 0, numOngoing: 0, numSuccesses: 0, numFailures: 0 },
  ...{ meanReturn: null, numSteps: 0 },
};
const NO_USAGE: UsageTotals = { inputTokens: null, outputTokens: null, costUsd: null };

/** Totals that took `t` to read are answered again for so many times `t`: pages ask for them every few seconds, and runs have millions of episodes. */
const KEPT_TIMES = 20;
const MOST_KEPT = 1_000;

interface KeptTotals {
  readonly totals: RunTotals;
  /** By `performance.now()`. */
  readonly untilMs: number;
}

/** Reads the totals of runs, of several at once. Those of a run with very many episodes may be some seconds old. */
@Injectable()
export class RunTotalsReader {
  private readonly kept = new Map<string, KeptTotals>();

  constructor(private readonly store: StoreService) {}

  /** Totals of each of the runs; zeros where there is no such run. */
  async read(runIds: readonly string[]): Promise<(runId: string) => RunTotals> {
    if (!asksAboutNow()) return this.readNow(runIds);
    const startedMs = performance.now();
    const keptNow = new Map(
      runIds.flatMap((runId) => {
        const kept = this.kept.get(runId);
        return kept === undefined || kept.untilMs <= startedMs ? [] : [[runId, kept.totals] as const];
      }),
    );
    const due = runIds.filter((runId) => !keptNow.has(runId));
    const totalsOf = await this.readNow(due);
    const untilMs = performance.now() + KEPT_TIMES * (performance.now() - startedMs);
    if (this.kept.size + due.length > MOST_KEPT) this.kept.clear();
    for (const runId of due) this.kept.set(runId, { totals: totalsOf(runId), untilMs });
    return (runId) => keptNow.get(runId) ?? totalsOf(runId);
  }

  private async readNow(runIds: readonly string[]): Promise<(runId: string) => RunTotals> {
    const [episodes, usages] =
      runIds.length === 0
        ? [[], []]
        : await Promise.all([
            this.store.queryRows<{ readonly runId: string } & EpisodeTotals>(EPISODES, { runIds }),
            this.store.queryRows<{ readonly runId: string } & UsageTotals>(USAGE, { runIds }),
          ]);
    const episodesOf = new Map(episodes.map(({ runId, ...totals }) => [runId, totals]));
    const usageOf = new Map(usages.map(({ runId, ...usage }) => [runId, usage]));
    return (runId) => ({ ...(episodesOf.get(runId) ?? NO_EPISODES), ...(usageOf.get(runId) ?? NO_USAGE) });
  }
}

/** Figures of a recorded run in the list of runs. */
export function recordedFigures(totals: RunTotals): RecordedFigures {
  const { numEpisodes, numOngoing, numSuccesses, numFailures, meanReturn, numSteps, costUsd } = totals;
  const numDecided = numSuccesses + numFailures;
  return {
    ...{ numEpisodes: numEpisodes - numOngoing, meanReturn, numSteps, costUsd },
    success: numDecided === 0 ? null : numSuccesses / numDecided,
  };
}
