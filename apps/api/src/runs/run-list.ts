import { decodeListCursor, listMark, type CursorKey } from '../paging/cursor.js';
import { sqlOrder } from '../paging/order.js';
import { ProblemError } from '../problems/problem.js';
import type { RunsQuery } from './runs-query.dto.js';

/** A run that has not ended is `running` while its newest control event is younger than this, then `idle`. */
export const RUNNING_WITHIN_MS = 30_000;

export const RUN_COLUMNS = `run_id, name, kind, tags, starred, archived, environment, seed, recipe_hash, started_at, ended_at, end_reason,
  JSONExtractUInt(recipe, 'numUpdates') + JSONExtractUInt(recipe, 'imitation', 'numUpdates') AS num_updates`;

interface ListStatement {
  readonly query: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Cursor of the page after one that ends with this run. */
  readonly keyAfter: (last: LastRun) => CursorKey;
}

/** The last run of the page before the one that is asked for. */
interface LastRun {
  readonly runId: string;
  /** By which the list is sorted, as text; null: the run has no value of it. */
  readonly sortKey: string | null;
}

/** A recipe but for its seed, and for the means that no recipe's hash has (`recipeHash` of `@retrace/config`). */
const RECIPE_OF_ANY_SEED = `arraySort(arrayFilter(
  field -> field.1 NOT IN ('seed', 'engine', 'process'), JSONExtractKeysAndValuesRaw(recipe)))`;

const CONDITIONS = {
  search: `arrayAll(
      place -> place > 0,
      multiSearchAllPositionsCaseInsensitiveUTF8(
        arrayStringConcat([name, environment, run_id, arrayStringConcat(tags, ' ')], ' '), {words:Array(String)}))`,
  kind: 'kind = {kind:String}',
  tag: 'has(tags, {tag:String})',
  starred: 'starred = {starred:Bool}',
  seedsOf: `kind = 'trained' AND (name, ${RECIPE_OF_ANY_SEED}) IN (
      SELECT name, ${RECIPE_OF_ANY_SEED} FROM runs WHERE run_id = {seedsOf:String} AND kind = 'trained')`,
  startedFrom: `kind = 'trained' AND JSONExtractString(recipe, 'initFrom', 'source', 'runId') = {startedFrom:String}`,
} as const;

/** Ids of the archived runs, as the view `runs` has them. */
export const ARCHIVED_RUNS = `
  SELECT run_id FROM events
  WHERE episode_id = '' AND kind = 'RunAnnotated'
  GROUP BY run_id
  HAVING argMaxIf(JSONExtractBool(payload, 'archived'), log_offset, JSONType(payload, 'archived') = 'Bool')`;

const ARCHIVED_CONDITIONS = {
  none: { ofView: ['NOT archived'], ofStarts: [`run_id NOT IN (${ARCHIVED_RUNS})`] },
  only: { ofView: ['archived'], ofStarts: [`run_id IN (${ARCHIVED_RUNS})`] },
  all: { ofView: [], ofStarts: [] },
} as const satisfies Record<RunsQuery['archived'], object>;

/** Runs with a control event since `runningSince`. */
const ACTIVE = `run_id IN (
    SELECT run_id FROM events WHERE episode_id = '' AND kind != 'RunAnnotated' AND occurred_at >= fromUnixTimestamp64Milli({runningSince:Int64}))`;

const STATUS_CONDITIONS = {
  running: `end_reason IS NULL AND ${ACTIVE}`,
  idle: `end_reason IS NULL AND NOT ${ACTIVE}`,
  finished: "end_reason = 'finished'",
  stopped: "end_reason = 'stopped'",
  failed: "end_reason = 'failed'",
} as const satisfies Record<NonNullable<RunsQuery['status']>, string>;

/** Runs that have started. */
const STARTED_RUNS = `(SELECT DISTINCT run_id FROM events WHERE episode_id = '' AND kind = 'RunStarted') AS started`;

/** Newest values of a metric of all runs. Records that came twice are equal. */
const NEWEST_FIGURES = `
  SELECT run_id, toNullable(argMax(figure, (metric_step, occurred_at))) AS newest,
    toNullable(toString(reinterpretAsUInt64(argMax(figure, (metric_step, occurred_at))))) AS newest_bits
  FROM (
    SELECT run_id, metric_step, occurred_at, metric_values[indexOf(metric_names, {metric:String})] AS figure
    FROM events
    WHERE episode_id = '' AND kind = 'MetricsLogged' AND has(metric_names, {metric:String})
  )
  WHERE isFinite(figure)
  GROUP BY run_id`;

/** Expressions by which lists are sorted. */
const SORT_KEYS = { started: 'run_id', name: 'lowerUTF8(name)', metric: 'newest' } as const;

/** Their values as text; that of a float by its bits, since not every version of the store reads decimals exactly. */
const SORT_KEY_TEXTS = { ...SORT_KEYS, metric: 'newest_bits' } as const;

/**
 * Makes the statement that reads which runs a list shows, with the sort key of each: one more than the page has. What is shown of them is read of these few.
 *
 * @throws ProblemError `INVALID_REQUEST` for the cursor of another list, a metric without the sort by it, and the other way round
 */
export function listStatement(query: RunsQuery, nowMs: number): ListStatement {
  const { limit, cursor, search = '', archived, sort, order } = query;
  checkMetric(query);
  const mark = markOf(query);
  const last = cursor === undefined ? null : lastOf(decodeListCursor(cursor, mark, ['string', 'string']));
  const conditions = conditionsOf(query);
  const { ofView, ofStarts } = ARCHIVED_CONDITIONS[archived];
  // Of all runs, which the page of runs asks for again and again, nothing is read but the ids.
  const readsStarts = sort !== 'name' && conditions.length === 0;
  const further = [
    ...(readsStarts ? ofStarts : [...ofView, ...conditions]),
    ...(last === null ? [] : [comesAfter(last, query)]),
  ];
  return {
    query: `
      SELECT run_id, ${SORT_KEY_TEXTS[sort]} AS sort_key
      FROM ${readsStarts ? STARTED_RUNS : 'runs'} ${sort === 'metric' ? `LEFT JOIN (${NEWEST_FIGURES}) AS figures USING (run_id)` : ''}
      ${whereAll(further)}
      ORDER BY ${SORT_KEYS[sort]} ${sqlOrder(order)}, run_id DESC
      LIMIT {limit:UInt32}`,
    params: {
      limit: limit + 1,
      kind: query.kind ?? '',
      tag: query.tag ?? '',
      starred: query.starred ?? false,
      seedsOf: query.seedsOf ?? '',
      startedFrom: query.startedFrom ?? '',
      metric: query.metric ?? '',
      ...{ lastId: last?.runId ?? '', lastKey: last?.sortKey ?? '' },
      words: search.split(/\s+/).filter((word) => word !== ''),
      runningSince: nowMs - RUNNING_WITHIN_MS,
    },
    keyAfter: ({ runId, sortKey }) => [mark, sortKey === null ? NO_KEY : `${HAS_KEY}${sortKey}`, runId],
  };
}

/** Tells a list from others, so that a cursor is taken only by its own. */
function markOf(query: RunsQuery) {
  const { search, status, kind, tag, starred, seedsOf, startedFrom, archived, sort, metric, order } = query;
  return listMark([
    ...[search, status, kind, tag, starred, seedsOf, startedFrom],
    ...[archived, sort, metric, order],
  ]);
}

function conditionsOf(query: RunsQuery): readonly string[] {
  const { status } = query;
  const given = (Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[]).filter(
    (field) => query[field] !== undefined,
  );
  return [
    ...given.map((field) => CONDITIONS[field]),
    ...(status === undefined ? [] : [STATUS_CONDITIONS[status]]),
  ];
}

/** Before the key in a cursor. */
const HAS_KEY = '=';
const NO_KEY = '';

function lastOf([key, runId]: readonly [string, string]): LastRun {
  return { runId, sortKey: key === NO_KEY ? null : key.slice(HAS_KEY.length) };
}

/** The runs after the last one of a page: those without a value come last, and run ids, which are UUIDv7 and sort by start, decide among equals. */
function comesAfter({ sortKey }: LastRun, { sort, order }: RunsQuery): string {
  const key = SORT_KEYS[sort];
  const sameKey = sortKey === null ? `${key} IS NULL` : `${key} = ${LAST_KEYS[sort]}`;
  const same = `(${sameKey} AND run_id < {lastId:String})`;
  if (sortKey === null) return same;
  const further = `${key} ${order === 'ascending' ? '>' : '<'} ${LAST_KEYS[sort]}`;
  return `(${further} OR ${same}${sort === 'metric' ? ` OR ${key} IS NULL` : ''})`;
}

const LAST_KEYS = {
  started: '{lastKey:String}',
  name: '{lastKey:String}',
  metric: 'reinterpretAsFloat64(toUInt64OrZero({lastKey:String}))',
} as const;

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
