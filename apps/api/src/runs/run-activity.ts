import { Injectable } from '@nestjs/common';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';

/** The progress of a run. */
export interface RunActivity {
  readonly lastActivityAt: string | null;
  readonly successCurve: readonly number[];
  readonly latest: Readonly<Record<string, number>>;
  readonly policyVersion: number | null;
}

const NO_ACTIVITY: RunActivity = { lastActivityAt: null, successCurve: [], latest: {}, policyVersion: null };
const MAX_CURVE_POINTS = 60;

const LAST_ACTIVITY = `
  SELECT run_id, max(occurred_at) AS last_activity_at
  FROM events
  WHERE episode_id = '' AND run_id IN {runIds:Array(String)}
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

/** Reads the progress of several runs, with one query for each field. */
@Injectable()
export class RunActivityReader {
  constructor(private readonly store: StoreService) {}

  async read(runIds: readonly string[]): Promise<(runId: string) => RunActivity> {
    if (runIds.length === 0) return () => NO_ACTIVITY;
    const params = { runIds, maxPoints: MAX_CURVE_POINTS };
    const [lastActivities, versions, latestValues, curves] = await Promise.all([
      this.store.queryRows<{ runId: string; lastActivityAt: string }>(LAST_ACTIVITY, params),
      this.store.queryRows<{ runId: string; newestVersion: number }>(POLICY_VERSIONS, params),
      this.store.queryRows<{ runId: string; name: string; latest: number }>(LATEST_VALUES, params),
      this.store.queryRows<{ runId: string; curve: number[] }>(SUCCESS_CURVES, params),
    ]);
    const lastActivityOf = new Map(lastActivities.map((row) => [row.runId, isoTime(row.lastActivityAt)]));
    const versionOf = new Map(versions.map((row) => [row.runId, row.newestVersion]));
    const curveOf = new Map(curves.map((row) => [row.runId, row.curve]));
    const latestOf = new Map<string, Record<string, number>>();
    for (const { runId, name, latest } of latestValues) {
      latestOf.set(runId, { ...latestOf.get(runId), [name]: latest });
    }
    return (runId) => ({
      lastActivityAt: lastActivityOf.get(runId) ?? null,
      successCurve: curveOf.get(runId) ?? [],
      latest: latestOf.get(runId) ?? {},
      policyVersion: versionOf.get(runId) ?? null,
    });
  }
}
