import { Injectable } from '@nestjs/common';
import { isKeptRun } from '../store/kept-run.js';
import { StoreService } from '../store/store.service.js';
import { KeptSeries } from './kept-series.js';
import type { MetricSeriesList, MetricSource, MetricsQuery } from './metrics.dto.js';

interface SeriesRow {
  readonly name: string;
  readonly source: MetricSource;
  readonly points: readonly (readonly [step: number, value: number, timeMs: number])[];
}

/**
 * Inside out: the newest value of each step (an update that was redone after a crash logs twice); each value's stretch
 * of the series; the mean of each stretch, at its last step and time.
 */
const SERIES = `
  SELECT name, source, arraySort(groupArray((last_step, mean, last_time))) AS points
  FROM (
    SELECT name, source, max(step) AS last_step, avg(newest) AS mean, max(time_ms) AS last_time
    FROM (
      SELECT name, source, step, newest, time_ms,
        intDiv((row_number() OVER (PARTITION BY name, source ORDER BY step) - 1) * {maxPoints:UInt64},
               greatest(count() OVER (PARTITION BY name, source), {maxPoints:UInt64})) AS stretch
      FROM (
        SELECT name, source, step, argMax(value, occurred_at) AS newest, toUnixTimestamp64Milli(max(occurred_at)) AS time_ms
        FROM metrics
        WHERE run_id = {runId:String}
          AND (empty({names:Array(String)}) OR has({names:Array(String)}, name))
          AND ({source:String} = '' OR source = {source:String})
          AND isFinite(value)
          AND ${isKeptRun('AND run_id = {runId:String}')}
        GROUP BY name, source, step
      )
    )
    GROUP BY name, source, stretch
  )
  GROUP BY name, source
  ORDER BY name, source`;

@Injectable()
export class MetricsService {
  constructor(
    private readonly store: StoreService,
    private readonly kept: KeptSeries,
  ) {}

  async series(runId: string, query: MetricsQuery): Promise<MetricSeriesList> {
    const kept = await this.kept.of(runId);
    if (kept !== null) return { series: kept.select(query) };
    const series = await this.readSeries(runId, query);
    this.kept.keepBeside(runId);
    return series;
  }

  private async readSeries(
    runId: string,
    { names, source, maxPoints }: MetricsQuery,
  ): Promise<MetricSeriesList> {
    const rows = await this.store.queryRows<SeriesRow>(SERIES, {
      runId,
      names,
      source: source ?? '',
      maxPoints,
    });
    return {
      series: rows.map(({ name, source: loggedBy, points }) => ({
        name,
        source: loggedBy,
        steps: points.map(([step]) => step),
        values: points.map(([, value]) => value),
        times: points.map(([, , timeMs]) => timeMs),
      })),
    };
  }
}
