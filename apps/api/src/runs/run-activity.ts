import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ControlEventKind } from '@retrace/trajectory';
import { ControlChanges } from '../store/control-changes.js';
import { KeptOfAllRuns } from '../store/kept-of-all-runs.js';
import { KeptOfAskedRuns } from '../store/kept-of-asked-runs.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';

/** The progress of a run. */
export interface RunActivity {
  readonly lastActivityAt: string | null;
  readonly successCurve: readonly number[];
  readonly latest: Readonly<Record<string, number>>;
  readonly policyVersion: number | null;
  readonly updates: {
    /** Newest one whose metrics are stored; 0 before the first. */
    readonly updateNumber: number;
    /** Median time from one of the last updates to the next; null before the second. */
    readonly medianS: number | null;
  };
}

const NO_UPDATES: RunActivity['updates'] = { updateNumber: 0, medianS: null };
const NO_ACTIVITY: RunActivity = {
  lastActivityAt: null,
  successCurve: [],
  latest: {},
  policyVersion: null,
  updates: NO_UPDATES,
};
/** How many of the last updates tell how long the others will take. */
const TIMED_UPDATES = 20;
const MAX_CURVE_POINTS = 60;

/** `OF_RUNS` is replaced by a condition on `run_id`, or by nothing for all runs. */
const OF_RUNS = '-- of runs';
const THESE_RUNS = 'AND run_id IN {runIds:Array(String)}';

const LAST_ACTIVITY = `
  SELECT run_id, max(occurred_at) AS value
  FROM events
  WHERE episode_id = '' AND kind != 'RunAnnotated' AND run_id != ''
    ${OF_RUNS}
  GROUP BY run_id`;

/** Newest values of a metric. Records that came twice are equal. */
const NEWEST_FIGURES = `
  SELECT run_id, argMax(figure, (metric_step, occurred_at)) AS value
  FROM (
    SELECT run_id, metric_step, occurred_at, metric_values[indexOf(metric_names, {metric:String})] AS figure
    FROM events
    WHERE episode_id = '' AND kind = 'MetricsLogged' AND has(metric_names, {metric:String})
      ${OF_RUNS}
  )
  WHERE isFinite(figure)
  GROUP BY run_id`;

const POLICY_VERSIONS = `
  SELECT run_id, max(policy_version) AS newest_version
  FROM policies
  WHERE run_id IN {runIds:Array(String)}
  GROUP BY run_id`;

const LATEST_VALUES = `
  SELECT run_id, name, argMax(value, (step, occurred_at)) AS latest
  FROM metrics
  WHERE run_id IN {runIds:Array(String)} AND isFinite(value)
  GROUP BY run_id, name`;

// The median, since a run that was stopped and resumed has one long pause among them.
const UPDATES = `
  SELECT run_id, max(step) AS update_number,
    if(count() < 2, NULL, quantileExactIf(0.5)(seconds, step > first_step)) AS median_s
  FROM (
    SELECT run_id, step, min(step) OVER (PARTITION BY run_id) AS first_step,
      at - lagInFrame(at) OVER (PARTITION BY run_id ORDER BY step ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS seconds
    FROM (
      SELECT run_id, metric_step AS step, toUnixTimestamp64Micro(min(occurred_at)) / 1e6 AS at
      FROM events
      WHERE episode_id = '' AND kind = 'MetricsLogged' AND source = 'trainer' AND run_id IN {runIds:Array(String)}
      GROUP BY run_id, step
      ORDER BY run_id, step DESC
      LIMIT {timedUpdates:UInt64} BY run_id
    )
  )
  GROUP BY run_id`;

/** The mean of each of at most `maxPoints` equal stretches of a run's rounds. */
const SUCCESS_CURVES = `
  SELECT run_id, arrayMap(point -> point.2, arraySort(groupArray((bucket, mean)))) AS curve
  FROM (
    SELECT run_id, bucket, avg(value) AS mean
    FROM (
      SELECT run_id, value,
        intDiv((row_number() OVER (PARTITION BY run_id ORDER BY step) - 1) * {maxPoints:UInt64},
               greatest(count() OVER (PARTITION BY run_id), {maxPoints:UInt64})) AS bucket
      FROM metrics
      WHERE run_id IN {runIds:Array(String)} AND name = 'rollout/success' AND isFinite(value)
    )
    GROUP BY run_id, bucket
  )
  GROUP BY run_id`;

const MOST_FIGURES = 1_000;
const MOST_METRICS = 8;

type Figures = Omit<RunActivity, 'lastActivityAt'>;

const FIGURE_KINDS: ReadonlySet<string> = new Set<ControlEventKind>([
  ...(['MetricsLogged', 'PolicyPublished', 'TrainerClaimed'] as const),
]);

/** Reads the progress of runs. It follows from their control events, so the progress of now is kept until a run has new ones. */
@Injectable()
export class RunActivityReader {
  private readonly lastActivities: KeptOfAllRuns<string>;
  private readonly figures: KeptOfAskedRuns<Figures>;
  /** By the name of the metric. */
  private readonly newest = new LRUCache<string, KeptOfAllRuns<number>>({ max: MOST_METRICS });

  constructor(
    private readonly store: StoreService,
    private readonly changes: ControlChanges,
  ) {
    this.lastActivities = new KeptOfAllRuns({
      changes,
      dependsOn: (kind) => kind !== 'RunAnnotated',
      read: async (runIds) => {
        const times = await this.readOfEach<string>(LAST_ACTIVITY, { runIds });
        return new Map(Array.from(times, ([runId, time]) => [runId, isoTime(time)]));
      },
    });
    this.figures = new KeptOfAskedRuns({
      ...{ changes, mostKept: MOST_FIGURES },
      dependsOn: (kind) => FIGURE_KINDS.has(kind),
      read: (runIds) => this.readFigures(runIds),
    });
  }

  async read(runIds: readonly string[]): Promise<(runId: string) => RunActivity> {
    const [lastOf, figuresOf] = await Promise.all([this.lastActivities.of(runIds), this.figures.of(runIds)]);
    const found = new Map(runIds.map((runId) => [runId, lastOf.get(runId)]));
    return (runId) => {
      const last = found.get(runId);
      return last === undefined
        ? NO_ACTIVITY
        : { ...NO_ACTIVITY, ...figuresOf.get(runId), lastActivityAt: last };
    };
  }

  /** Times (ISO 8601) of the newest control events but annotations, of all runs. */
  lastActivityTimes(): Promise<ReadonlyMap<string, string>> {
    return this.lastActivities.all();
  }

  /** Newest finite values of a metric in all runs that have one. */
  newestValues(metric: string): Promise<ReadonlyMap<string, number>> {
    const kept =
      this.newest.get(metric) ??
      new KeptOfAllRuns<number>({
        changes: this.changes,
        dependsOn: (kind) => kind === 'MetricsLogged',
        read: (runIds) => this.readOfEach<number>(NEWEST_FIGURES, { runIds, metric }),
      });
    this.newest.set(metric, kept);
    return kept.all();
  }

  private async readOfEach<Value>(
    sql: string,
    { runIds, ...params }: { readonly runIds: readonly string[] | null; readonly metric?: string },
  ): Promise<Map<string, Value>> {
    const query = sql.replace(OF_RUNS, runIds === null ? '' : THESE_RUNS);
    const rows = await this.store.queryRows<{ readonly runId: string; readonly value: Value }>(query, {
      ...params,
      runIds: runIds ?? [],
    });
    return new Map(rows.map(({ runId, value }) => [runId, value]));
  }

  /** One query for each field. */
  private async readFigures(runIds: readonly string[]): Promise<Map<string, Figures>> {
    const params = { runIds, maxPoints: MAX_CURVE_POINTS, timedUpdates: TIMED_UPDATES + 1 };
    const [versions, latestValues, curves, updates] = await Promise.all([
      this.store.queryRows<{ runId: string; newestVersion: number }>(POLICY_VERSIONS, params),
      this.store.queryRows<{ runId: string; name: string; latest: number }>(LATEST_VALUES, params),
      this.store.queryRows<{ runId: string; curve: number[] }>(SUCCESS_CURVES, params),
      this.store.queryRows<{ runId: string } & RunActivity['updates']>(UPDATES, params),
    ]);
    const versionOf = new Map(versions.map((row) => [row.runId, row.newestVersion]));
    const curveOf = new Map(curves.map((row) => [row.runId, row.curve]));
    const updatesOf = new Map(updates.map(({ runId, ...figures }) => [runId, figures]));
    const latestOf = new Map<string, Record<string, number>>();
    for (const { runId, name, latest } of latestValues) {
      const values = latestOf.get(runId) ?? {};
      values[name] = latest;
      latestOf.set(runId, values);
    }
    const figuresOf = (runId: string): Figures => ({
      successCurve: curveOf.get(runId) ?? [],
      latest: latestOf.get(runId) ?? {},
      policyVersion: versionOf.get(runId) ?? null,
      updates: updatesOf.get(runId) ?? NO_UPDATES,
    });
    return new Map(runIds.map((runId) => [runId, figuresOf(runId)]));
  }
}
