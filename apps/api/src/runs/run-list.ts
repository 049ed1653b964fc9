import { decodeListCursor, listMark, type CursorKey } from '../paging/cursor.js';
import { ProblemError } from '../problems/problem.js';
import type { RunFacts } from './run-facts.js';
import type { RunsQuery } from './runs-query.dto.js';
import type { RunStatus } from './runs.dto.js';

/** The parts of which lists of runs are made. */
export interface ListedRuns {
  readonly factsOf: ReadonlyMap<string, RunFacts>;
  /** Used only where the query asks for a status. */
  readonly statusOf: (run: RunFacts) => RunStatus;
  /** Newest values of the metric by which the list is sorted; empty where it is sorted otherwise. */
  readonly newestOf: ReadonlyMap<string, number>;
}

/** A run of a page; by `key` the list is sorted, null: the run has no value of it. */
export interface ListedRun {
  readonly run: RunFacts;
  readonly key: string | number | null;
}

interface RunList {
  /** The page, and one run more where the list goes on. */
  readonly runs: readonly ListedRun[];
  /** Cursor of the page after one that ends with this run. */
  readonly keyAfter: (last: ListedRun) => CursorKey;
}

type Condition = (run: RunFacts) => boolean;

/**
 * Finds the runs of a page, in order.
 *
 * @throws ProblemError `INVALID_REQUEST` for the cursor of another list, a metric without the sort by it, and the other way round
 */
export function findListed(query: RunsQuery, listed: ListedRuns): RunList {
  checkMetric(query);
  const mark = makeMark(query);
  const compare = makeComparator(query);
  const keyOf = makeSortKey(query, listed);
  const last =
    query.cursor === undefined
      ? null
      : readLastPlace(query, decodeListCursor(query.cursor, mark, ['string', 'string']));
  const conditions = listConditions(query, listed);
  const found: ListedRun[] = [];
  for (const run of listed.factsOf.values()) {
    if (!conditions.every((holds) => holds(run))) continue;
    const one = { run, key: keyOf(run) };
    if (last === null || compare(last, place(one)) < 0) found.push(one);
  }
  found.sort((a, b) => compare(place(a), place(b)));
  return {
    runs: found.slice(0, query.limit + 1),
    keyAfter: ({ run, key }) => [mark, key === null ? NO_KEY : `${HAS_KEY}${key}`, run.runId],
  };
}

/** Another one where keys are written otherwise: cursors of before are refused. */
const CURSOR_VERSION = 2;

/** Tells a list from others, so that a cursor is taken only by its own. */
function makeMark(query: RunsQuery): string {
  const { search, status, kind, tag, starred, seedsOf, startedFrom, archived, sort, metric, order } = query;
  return listMark([
    CURSOR_VERSION,
    ...[search, status, kind, tag, starred, seedsOf, startedFrom],
    ...[archived, sort, metric, order],
  ]);
}

function listConditions(query: RunsQuery, { factsOf, statusOf }: ListedRuns): readonly Condition[] {
  const { search = '', status, kind, tag, starred, seedsOf, startedFrom, archived } = query;
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const given: readonly (Condition | false)[] = [
    archived !== 'all' && ((run) => run.archived === (archived === 'only')),
    kind !== undefined && ((run) => run.kind === kind),
    tag !== undefined && ((run) => run.tags.includes(tag)),
    starred !== undefined && ((run) => run.starred === starred),
    startedFrom !== undefined && ((run) => run.kind === 'trained' && run.startedFrom === startedFrom),
    seedsOf !== undefined && matchSeeds(factsOf.get(seedsOf)),
    words.length > 0 && ((run) => hasEach(words, run)),
    status !== undefined && ((run) => statusOf(run) === status),
  ];
  return given.filter((condition) => condition !== false);
}

function matchSeeds(one: RunFacts | undefined): Condition {
  return (run) => one?.kind === 'trained' && run.kind === 'trained' && run.seedsKey === one.seedsKey;
}

function hasEach(words: readonly string[], { name, environment, runId, tags }: RunFacts): boolean {
  const text = [name, environment, runId, ...tags].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The place of a run in a list. */
interface Place {
  readonly runId: string;
  readonly key: string | number | null;
}

const place = ({ run, key }: ListedRun): Place => ({ runId: run.runId, key });

function makeSortKey({ sort }: RunsQuery, { newestOf }: ListedRuns): (run: RunFacts) => ListedRun['key'] {
  if (sort === 'started') return (run) => run.runId;
  if (sort === 'name') return (run) => run.name.toLowerCase();
  return (run) => newestOf.get(run.runId) ?? null;
}

/** Those without a value come last, and run ids, which are UUIDv7 and sort by start, decide among equals. */
function makeComparator({ order }: RunsQuery): (a: Place, b: Place) => number {
  const sign = order === 'ascending' ? 1 : -1;
  return (a, b) => {
    if (a.key === null || b.key === null) {
      if (a.key !== b.key) return a.key === null ? 1 : -1;
    } else if (a.key !== b.key) return a.key < b.key ? -sign : sign;
    return a.runId === b.runId ? 0 : a.runId < b.runId ? 1 : -1;
  };
}

/** Before the key in a cursor. */
const HAS_KEY = '=';
const NO_KEY = '';

/** The last run of the page before the one that is asked for. */
function readLastPlace({ sort }: RunsQuery, [text, runId]: readonly [string, string]): Place {
  if (text === NO_KEY) return { runId, key: null };
  const key = text.slice(HAS_KEY.length);
  return { runId, key: sort === 'metric' ? Number(key) : key };
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
