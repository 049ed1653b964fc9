import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { asksAboutNow } from '../store/asked-moment.js';
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

// Until parts are merged, a record may be stored twice, and must count once.
const LAST_ACTIVITY = `
  SELECT run_id, max(occurred_at) AS last_activity_at,
    concat(toString(uniqExact(log_id, log_offset)), ':', toString(max(log_offset))) AS records
  FROM events
  WHERE episode_id = '' AND kind != 'RunAnnotated' AND run_id IN {runIds:Array(String)}
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

const MOST_KEPT = 1_000;

interface LastActivity {
  readonly runId: string;
  readonly lastActivityAt: string;
  /** Tells which control events of the run are stored: how many, and the last one's place in the log. */
  readonly records: string;
}

type Figures = Omit<RunActivity, 'lastActivityAt'>;
const NO_FIGURES: Figures = NO_ACTIVITY;

/**
 * Reads the progress of several runs. It follows from their control events, so the progress of now is read again only of runs that have other
 * events than before.
 */
@Injectable()
export class RunActivityReader {
  private readonly kept = new LRUCache<string, { readonly records: string; readonly figures: Figures }>({
    max: MOST_KEPT,
  });

  constructor(private readonly store: StoreService) {}

  async read(runIds: readonly string[]): Promise<(runId: string) => RunActivity> {
    if (runIds.length === 0) return () => NO_ACTIVITY;
    const rows = await this.store.queryRows<LastActivity>(LAST_ACTIVITY, { runIds });
    const lastOf = new Map(rows.map((row) => [row.runId, row]));
    const figuresOf = asksAboutNow()
      ? await this.readChanged(rows)
      : await this.readFigures(rows.map(({ runId }) => runId));
    return (runId) => {
      const last = lastOf.get(runId);
      return last === undefined
        ? NO_ACTIVITY
        : { ...figuresOf(runId), lastActivityAt: isoTime(last.lastActivityAt) };
    };
  }

  /** Figures of now; those of runs whose records are the same as before are not read again. */
  private async readChanged(rows: readonly LastActivity[]): Promise<(runId: string) => Figures> {
    const keptOf = new Map(
      rows.flatMap(({ runId, records }) => {
        const kept = this.kept.get(runId);
        return kept?.records === records ? [[runId, kept.figures] as const] : [];
      }),
    );
    const changed = rows.filter(({ runId }) => !keptOf.has(runId));
    const readOf = await this.readFigures(changed.map(({ runId }) => runId));
    for (const { runId, records } of changed) this.kept.set(runId, { records, figures: readOf(runId) });
    return (runId) => keptOf.get(runId) ?? readOf(runId);
  }

  /** One query for each field. */
  private async readFigures(runIds: readonly string[]): Promise<(runId: string) => Figures> {
    if (runIds.length === 0) return () => NO_FIGURES;
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
    return (runId) => ({
      successCurve: curveOf.get(runId) ?? [],
      latest: latestOf.get(runId) ?? {},
      policyVersion: versionOf.get(runId) ?? null,
      updates: updatesOf.get(runId) ?? NO_UPDATES,
    });
  }
}
