import { Injectable } from '@nestjs/common';
import { StoreService } from '../store/store.service.js';
import type { RunTotals } from './run-totals.dto.js';

const EPISODE_TOTALS = `
  SELECT
    count() AS num_episodes,
    countIf(NOT sealed) AS num_ongoing,
    countIf(success = true) AS num_successes,
    countIf(success = false) AS num_failures,
    avgOrNull(return) AS mean_return,
    sum(ifNull(num_steps, 0)) AS num_steps
  FROM episodes
  WHERE run_id = {runId:String}`;

const USAGE_TOTALS = `
  SELECT
    sumOrNull(input_tokens) AS input_tokens,
    sumOrNull(output_tokens) AS output_tokens,
    sumOrNull(cost_usd) AS cost_usd
  FROM steps
  WHERE run_id = {runId:String}`;

type EpisodeTotals = Omit<RunTotals, keyof UsageTotals>;
type UsageTotals = Pick<RunTotals, 'inputTokens' | 'outputTokens' | 'costUsd'>;

@Injectable()
export class RunTotalsService {
  constructor(private readonly store: StoreService) {}

  /** Totals of a run; zeros where there is no such run. */
  async get(runId: string): Promise<RunTotals> {
    const [[episodes], [usage]] = await Promise.all([
      this.store.queryRows<EpisodeTotals>(EPISODE_TOTALS, { runId }),
      this.store.queryRows<UsageTotals>(USAGE_TOTALS, { runId }),
    ]);
    return { ...episodes, ...usage };
  }
}
