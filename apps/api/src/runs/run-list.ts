import { decodeCursor, foreignCursor, type CursorKey } from '../paging/cursor.js';
import { sqlOrder } from '../paging/order.js';
import { ProblemError } from '../problems/problem.js';
import type { RunsQuery } from './runs-query.dto.js';

/** A run that has not ended is `running` while its newest control event is younger than this, then `idle`. */
export const RUNNING_WITHIN_MS = 30_000;

export const RUN_COLUMNS = `run_id, name, kind, tags, environment, seed, recipe_hash, started_at, ended_at, end_reason,
  JSONExtractUInt(recipe, 'numUpdates') + JSONExtractUInt(recipe, 'imitation', 'numUpdates') AS num_updates`;

/** Where a page begins: how many runs come before it, or, where they are sorted by their start, after which one. */
interface PageStart {
  readonly from: number;
  readonly after: string;
}

interface ListStatement {
  readonly query: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Cursor of the page after one that ends with this run. */
  readonly keyAfter: (runId: string) => CursorKey;
}

/** Newest values of a metric. Records that came twice are equal. */
const NEWEST_FIGURES = `
  SELECT run_id, argMax(figure, (metric_step, occurred_at)) AS newest
  FROM (
    SELECT run_id, metric_step, occurred_at, metric_values[indexOf(metric_names, {metric:String})] AS figure
    FROM events
    WHERE episode_id = '' AND kind = 'MetricsLogged' AND has(metric_names, {metric:String})
  )
  WHERE isFinite(figure)
  GROUP BY run_id`;

const CONDITIONS = {
  search: `arrayAll(
      place -> place > 0,
      multiSearchAllPositionsCaseInsensitiveUTF8(
        arrayStringConcat([name, environment, run_id, arrayStringConcat(tags, ' ')], ' '), {words:Array(String)}))`,
  kind: 'kind = {kind:String}',
  tag: 'has(tags, {tag:String})',
} as const;

/** Runs with a control event since `runningSince`. */
const ACTIVE = `run_id IN (
    SELECT run_id FROM events WHERE episode_id = '' AND occurred_at >= fromUnixTimestamp64Milli({runningSince:Int64}))`;

const STATUS_CONDITIONS = {
  running: `end_reason IS NULL AND ${ACTIVE}`,
  idle: `end_reason IS NULL AND NOT ${ACTIVE}`,
  finished: "end_reason = 'finished'",
  stopped: "end_reason = 'stopped'",
  failed: "end_reason = 'failed'",
} as const satisfies Record<NonNullable<RunsQuery['status']>, string>;

/**
 * Makes the statement that lists runs, one more than the page has.
 *
 * @throws ProblemError `INVALID_REQUEST` for a foreign cursor, a metric without the sort by it, and the other way round
 */
export function listStatement(query: RunsQuery, nowMs: number): ListStatement {
  const { limit, search, status, kind, tag, sort, metric, order } = query;
  checkMetric(query);
  const asked = [search, status, kind, tag, sort, metric, order].map((value) => value ?? '');
  const start = startOf(query.cursor, asked);
  const conditions = [
    ...(search === undefined ? [] : [CONDITIONS.search]),
    ...(status === undefined ? [] : [STATUS_CONDITIONS[status]]),
    ...(kind === undefined ? [] : [CONDITIONS.kind]),
    ...(tag === undefined ? [] : [CONDITIONS.tag]),
  ];
  const isByStart = sort === 'started';
  // Run ids are UUIDv7: they sort by start.
  const further = start.after === '' ? [] : [`run_id ${order === 'ascending' ? '>' : '<'} {after:String}`];
  // Of all runs, which the page of runs asks for again and again, only the first ones are read as a whole.
  const among = isByStart && conditions.length === 0 ? [firstRuns(order, further)] : further;
  const key = { started: 'run_id', name: 'lowerUTF8(name)', metric: 'newest' }[sort];
  return {
    query: `
      SELECT ${RUN_COLUMNS}
      FROM runs ${sort === 'metric' ? `LEFT JOIN (${NEWEST_FIGURES}) AS figures USING (run_id)` : ''}
      ${whereAll([...conditions, ...among])}
      ORDER BY ${key} ${sqlOrder(order)}${isByStart ? '' : ', run_id DESC'}
      LIMIT {limit:UInt32} OFFSET {from:UInt64}
      SETTINGS join_use_nulls = 1`,
    params: {
      ...{ ...start, limit: limit + 1, kind: kind ?? '', tag: tag ?? '', metric: metric ?? '' },
      words: (search ?? '').split(/\s+/).filter((word) => word !== ''),
      runningSince: nowMs - RUNNING_WITHIN_MS,
    },
    keyAfter: (runId) => [isByStart ? 0 : start.from + limit, isByStart ? runId : '', ...asked],
  };
}

/** Which runs come first by their start. */
function firstRuns(order: RunsQuery['order'], conditions: readonly string[]): string {
  const started = ["episode_id = ''", "kind = 'RunStarted'", ...conditions];
  return `run_id IN (
    SELECT DISTINCT run_id FROM events ${whereAll(started)} ORDER BY run_id ${sqlOrder(order)} LIMIT {limit:UInt32})`;
}

function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

function checkMetric({ sort, metric }: RunsQuery): void {
  if ((sort === 'metric') === (metric !== undefined)) return;
  const rule =
    metric === undefined
      ? 'must name a metric where sort is metric'
      : 'is only for lists whose sort is metric';
  throw new ProblemError('INVALID_REQUEST', `metric ${rule}`, [
    { field: 'metric', value: metric ?? null, rule },
  ]);
}

/** @param asked what the list is of, as words, which the cursor must be of */
function startOf(cursor: string | undefined, asked: readonly string[]): PageStart {
  if (cursor === undefined) return { from: 0, after: '' };
  const words = asked.map(() => 'string' as const);
  const [from, after, ...of] = decodeCursor(cursor, ['number', 'string', ...words]) as [
    number,
    string,
    ...string[],
  ];
  if (of.some((word, i) => word !== asked[i])) throw foreignCursor(cursor);
  return { from, after };
}
