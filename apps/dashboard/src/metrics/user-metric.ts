import type { MetricSeries, SqlResult } from '../api-types/schema';
import { firstNotBelow } from '../charts/chart-axis';
import { isNumericType, isTimeType } from '../sql/column-types';
import { toNumber, toSeconds } from '../sql/plot-of-result';

/** A metric that a person computes by SQL: columns `x`, an update, a policy version or a time, and `value`. */
export interface UserMetric {
  readonly name: string;
  /** One SELECT, in which `{run}` stands for the id of a run. */
  readonly query: string;
}

export const MAX_USER_METRICS = 12;
/** As many as the API gives as JSON. */
export const MAX_POINTS = 10_000;
const RUN = '{run}';
const KIND = 'sql';

/** Says what is wrong with the name of a metric; null for nothing. The API takes names of metrics between commas. */
export function nameFault(name: string, taken: readonly string[]): string | null {
  if (name.includes(',')) return 'A name has no commas.';
  return taken.includes(name) ? `There is a metric “${name}” already.` : null;
}

/** Name of the chart, among those of recorded metrics. */
export function toChartName({ name }: UserMetric): string {
  return `${KIND}/${name}`;
}

/** The query of a metric for one run. */
export function queryOfRun(query: string, runId: string): string {
  return query.replaceAll(RUN, `'${runId}'`);
}

/**
 * Reads a series from the answer, in ascending order of `x`; rows without a finite value are left out. A number is an update, or the version that it made;
 * a time is counted in updates with the series of a collector.
 *
 * @param updates any series of the trainer, whose times say when an update was
 * @throws Error for an answer of another form, with what it must have
 */
export function seriesOfResult(
  metric: UserMetric,
  result: SqlResult,
  updates: MetricSeries | undefined,
): MetricSeries {
  const { columns, rows, truncated } = result;
  const x = columns.findIndex(({ name }) => name === 'x');
  const y = columns.findIndex(({ name }) => name === 'value');
  if (x < 0 || y < 0) {
    const names = columns.map(({ name }) => name).join(', ');
    throw new Error(`The query must give the columns x and value; it gives ${names}.`);
  }
  const isTime = isTimeType(columns[x].type);
  if (!isTime && !isNumericType(columns[x].type))
    throw new Error(`Column x must be a number or a time, got ${columns[x].type}.`);
  if (!isNumericType(columns[y].type))
    throw new Error(`Column value must be a number, got ${columns[y].type}.`);
  if (truncated)
    throw new Error(`The query gives more than ${MAX_POINTS} rows; a chart needs one for each x.`);
  const points = rows
    .map((row) => ({ at: isTime ? toSeconds(row[x]) : toNumber(row[x]), value: toNumber(row[y]) }))
    .filter((point): point is { at: number; value: number } => point.at !== null && point.value !== null)
    .sort((a, b) => a.at - b.at);
  const again = points.findIndex(({ at }, i) => i > 0 && at === points[i - 1].at);
  if (again > 0)
    throw new Error(
      `Column x has ${isTime ? 'a time' : points[again].at} more than once; a chart needs one row for each x.`,
    );
  return {
    name: toChartName(metric),
    source: isTime ? 'collector' : 'trainer',
    // A time has no update until it is counted in those of the run.
    steps: points.map(({ at }) => (isTime ? Number.NaN : at)),
    values: points.map(({ value }) => value),
    times: points.map(({ at }) => (isTime ? at * 1000 : timeOfUpdate(at, updates))),
  };
}

/** When an update was recorded, in ms since the Unix epoch; NaN in a run without updates. */
function timeOfUpdate(update: number, updates: MetricSeries | undefined): number {
  if (updates === undefined || updates.steps.length === 0) return Number.NaN;
  return updates.times[Math.min(firstNotBelow(update, updates.steps), updates.steps.length - 1)];
}

/** Ready-made metrics. */
export const EXAMPLE_METRICS: readonly UserMetric[] = [
  {
    name: 'staleness',
    query: `SELECT u.update_number AS x, avg(u.policy_version_in - e.policy_version_min) AS value
FROM (
  SELECT update_number, policy_version_in, arrayJoin(episode_ids) AS episode_id
  FROM updates
  WHERE run_id = {run}
) AS u
INNER JOIN (
  SELECT episode_id, policy_version_min
  FROM episodes
  WHERE run_id = {run} AND sealed AND policy_version_min >= 0
) AS e ON u.episode_id = e.episode_id
GROUP BY x
ORDER BY x`,
  },
  {
    name: 'length against success',
    query: `SELECT policy_version_max AS x, corr(num_action_tokens, success) AS value
FROM episodes
WHERE run_id = {run} AND sealed AND agent = 'policy' AND split = 'train'
GROUP BY x
ORDER BY x`,
  },
  {
    name: 'tokens clipped',
    query: `SELECT update_number AS x, countIf(clipped) AS value
FROM update_tokens
WHERE run_id = {run}
GROUP BY x
ORDER BY x`,
  },
];
