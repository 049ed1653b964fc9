import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type ControlEventKind, REMARK_KINDS } from '@retrace/trajectory';
import { ControlChanges, type DependsOn } from '../store/control-changes.js';
import { KeptOfAllRuns } from '../store/kept-of-all-runs.js';
import { KeptOfAskedRuns } from '../store/kept-of-asked-runs.js';
import { isKeptRun } from '../store/kept-run.js';
import { isoTime, isoTimeOfUs } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import { currentEvents } from '../store/trainer-events.js';

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

const REMARKS: ReadonlySet<string> = new Set(REMARK_KINDS);
const REMARKS_IN_SQL = REMARK_KINDS.map((kind) => `'${kind}'`).join(', ');

const lastActivityOf = (ofRuns: string): string => `
  SELECT run_id, max(occurred_at) AS value
  FROM events
  WHERE episode_id = '' AND kind NOT IN (${REMARKS_IN_SQL}) AND run_id != '' ${ofRuns}
    AND ${isKeptRun(ofRuns)}
  GROUP BY run_id`;

/** Newest values of a metric. Records that came twice are equal. */
const newestFiguresOf = (ofRuns: string): string => `
  SELECT run_id, argMax(figure, (metric_step, occurred_at)) AS value
  FROM (
    SELECT run_id, metric_step, occurred_at, metric_values[indexOf(metric_names, {metric:String})] AS figure
    FROM events
    WHERE episode_id = '' AND kind = 'MetricsLogged' AND has(metric_names, {metric:String}) ${ofRuns}
      AND ${isKeptRun(ofRuns)}
  )
  WHERE isFinite(figure)
  GROUP BY run_id`;

const POLICY_VERSIONS = `
  SELECT run_id, max(policy_version) AS newest_version
  FROM (${currentEvents('PolicyPublished', 'policy_version', 'run_id IN {runIds:Array(String)}')})
  GROUP BY run_id`;

/**
 * Newest values of the metrics of runs, in one pass over their events: each query beside a training run waits for the processors. The row of the
 * empty name is of the events themselves. It has the newest trained update and the median time between the last ones: the median, since a run that
 * was stopped and resumed has one long pause among them. That of the success rate has the mean of each of at most `maxPoints` equal stretches.
 */
const METRICS = `
  WITH arraySort(points).2 AS successes, length(successes) AS num_points, least(num_points, {maxPoints:UInt64}) AS num_stretches,
    stretch -> intDiv(stretch * num_points + num_stretches - 1, num_stretches) AS first_of,
    arraySlice(update_times.2, -toInt64({timedUpdates:UInt64})) AS last_times
  SELECT run_id, name, latest,
    arrayMap(i -> arrayAvg(arraySlice(successes, first_of(i) + 1, first_of(i + 1) - first_of(i))), range(num_stretches)) AS curve,
    if(empty(update_times.1), 0, update_times.1[-1]) AS update_number,
    if(length(last_times) < 2, NULL, arrayReduce('quantileExact(0.5)', arrayPopFront(arrayDifference(last_times)))) AS median_s
  FROM (
    SELECT run_id, name, argMaxIf(value, (metric_step, occurred_at), isFinite(value)) AS latest, countIf(isFinite(value)) AS num_values,
      groupArrayIf((metric_step, value), name = 'rollout/success' AND isFinite(value)) AS points,
      minMapIf([metric_step], [toUnixTimestamp64Micro(occurred_at) / 1e6], name = '' AND source = 'trainer') AS update_times
    FROM (
      SELECT run_id, source, metric_step, occurred_at, metric_names, metric_values
      FROM events
      WHERE episode_id = '' AND kind = 'MetricsLogged' AND run_id IN {runIds:Array(String)}
      LIMIT 1 BY run_id, event_id
    )
    ARRAY JOIN arrayPushFront(CAST(metric_names, 'Array(String)'), '') AS name, arrayPushFront(metric_values, 0) AS value
    GROUP BY run_id, name
  )
  WHERE num_values > 0`;

interface MetricRow {
  readonly runId: string;
  /** Empty in the row of the events themselves. */
  readonly name: string;
  readonly latest: number;
  readonly curve: readonly number[];
  readonly updateNumber: number;
  readonly medianS: number | null;
}

/** Figures of a run take a few kilobytes. */
const MOST_FIGURES = 2_000;
const MOST_METRICS = 8;

type Figures = Omit<RunActivity, 'lastActivityAt'>;

/** A run that trains has these several times a second. */
const FREQUENT_KINDS: ReadonlySet<string> = new Set<ControlEventKind>(['MetricsLogged', 'PolicyPublished']);
/** The metrics of a run that has ended are its last. */
const METRIC_KINDS: ReadonlySet<string> = new Set<ControlEventKind>([
  'MetricsLogged',
  'TrainerClaimed',
  'RunEnded',
]);

const mayBeLate: DependsOn = ({ kind, isAfterEnd }) => FREQUENT_KINDS.has(kind) && !isAfterEnd;

/**
 * Reads the progress of runs. It follows from their control events, so the progress of now is kept until a run has new ones. Where the store takes long, the
 * figures of a run that trains may be some seconds old.
 */
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
      dependsOn: ({ runId, kind }) => runId !== '' && !REMARKS.has(kind),
      after: (before, { occurredAtUs }) => {
        const time = isoTimeOfUs(occurredAtUs);
        return time > before ? time : before;
      },
      read: async (runIds) => {
        const times = await this.readOfEach<string>(lastActivityOf, { runIds });
        return new Map(Array.from(times, ([runId, time]) => [runId, isoTime(time)]));
      },
    });
    this.figures = new KeptOfAskedRuns({
      ...{ changes, maxSize: MOST_FIGURES, sizeOf: () => 1 },
      dependsOn: ({ kind }) => METRIC_KINDS.has(kind) || FREQUENT_KINDS.has(kind),
      mayBeLate,
      read: (runIds) => this.readFigures(runIds),
    });
  }

  async read(runIds: readonly string[]): Promise<(runId: string) => RunActivity> {
    const [lastOf, figuresOf] = await Promise.all([this.lastActivities.of(runIds), this.figures.of(runIds)]);
    const found = new Map(runIds.map((runId) => [runId, lastOf.get(runId)]));
    return (runId) => ({
      ...NO_ACTIVITY,
      ...figuresOf.get(runId),
      lastActivityAt: found.get(runId) ?? null,
    });
  }

  /** Times (ISO 8601) of the newest control events, except those of people (`REMARK_KINDS`), of all runs. */
  lastActivityTimes(): Promise<ReadonlyMap<string, string>> {
    return this.lastActivities.all();
  }

  /** Newest finite values of a metric in all runs that have one. */
  newestValues(metric: string): Promise<ReadonlyMap<string, number>> {
    const kept =
      this.newest.get(metric) ??
      new KeptOfAllRuns<number>({
        changes: this.changes,
        dependsOn: ({ kind }) => METRIC_KINDS.has(kind),
        mayBeLate,
        read: (runIds) => this.readOfEach<number>(newestFiguresOf, { runIds, metric }),
      });
    this.newest.set(metric, kept);
    return kept.all();
  }

  private async readOfEach<Value>(
    sqlOf: (ofRuns: string) => string,
    { runIds, ...params }: { readonly runIds: readonly string[] | null; readonly metric?: string },
  ): Promise<Map<string, Value>> {
    const sql = sqlOf(runIds === null ? '' : 'AND run_id IN {runIds:Array(String)}');
    const rows = await this.store.queryRows<{ readonly runId: string; readonly value: Value }>(sql, {
      ...params,
      runIds: runIds ?? [],
    });
    return new Map(rows.map(({ runId, value }) => [runId, value]));
  }

  private async readFigures(runIds: readonly string[]): Promise<Map<string, Figures>> {
    const params = { runIds, maxPoints: MAX_CURVE_POINTS, timedUpdates: TIMED_UPDATES + 1 };
    const [versions, metrics] = await Promise.all([
      this.store.queryRows<{ runId: string; newestVersion: number }>(POLICY_VERSIONS, params),
      this.store.queryRows<MetricRow>(METRICS, params),
    ]);
    const metricsOf = new Map<string, MetricRow[]>(runIds.map((runId) => [runId, []]));
    for (const row of metrics) metricsOf.get(row.runId)?.push(row);
    const versionOf = new Map(versions.map((row) => [row.runId, row.newestVersion]));
    return new Map(
      Array.from(metricsOf, ([runId, rows]) => [runId, toFigures(rows, versionOf.get(runId) ?? null)]),
    );
  }
}

function toFigures(rows: readonly MetricRow[], policyVersion: number | null): Figures {
  const events = rows.find(({ name }) => name === '');
  const { updateNumber, medianS } = events ?? NO_UPDATES;
  return {
    successCurve: rows.find(({ name }) => name === 'rollout/success')?.curve ?? [],
    latest: Object.fromEntries(
      rows.filter((row) => row !== events).map(({ name, latest }) => [name, latest]),
    ),
    policyVersion,
    updates: { updateNumber, medianS },
  };
}
