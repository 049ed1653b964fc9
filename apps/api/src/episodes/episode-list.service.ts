import { Injectable } from '@nestjs/common';
import { decodeCursor, encodeCursor } from '../http/cursor.js';
import { pageOf, type Page } from '../http/page.js';
import { StoreService } from '../store/store.service.js';
import { EPISODE_COLUMNS, toEpisodeSummary, type EpisodeRow } from './episode-row.js';
import type { EpisodesQuery, EpisodeSummary } from './episodes.dto.js';

/** Sorts after every UUID. */
const AFTER_ALL = '~';

/** Episodes looked at in one query while a filter is searched for, and queries in one request. */
const WINDOW_EPISODES = 2_000;
const MAX_WINDOWS = 10;

/** A stretch of a run's episodes in list order; `last` is its end (inclusive). */
interface Window {
  readonly first: string;
  readonly last: string;
  readonly isFinal: boolean;
}

/**
 * Lists episodes in bounded time, however many the run has.
 *
 * Episode ids sort by start, and so do the rows of the store. The list therefore walks over windows of neighbouring
 * episodes, and a filter that few of them pass gives up after some windows: the page is then short and its cursor goes on.
 */
@Injectable()
export class EpisodeListService {
  constructor(private readonly store: StoreService) {}

  async list(runId: string, query: EpisodesQuery): Promise<Page<EpisodeSummary>> {
    const [after] = query.cursor
      ? decodeCursor(query.cursor, ['string'])
      : [query.sort === 'newest' ? AFTER_ALL : ''];
    if (query.groupId !== undefined || query.update !== undefined) return this.listNamed(runId, query, after);
    return this.listByWindows(runId, query, after);
  }

  /** Few episodes, named by a group or a batch. */
  private async listNamed(runId: string, query: EpisodesQuery, after: string): Promise<Page<EpisodeSummary>> {
    const order = orderOf(query);
    const conditions = [...filterConditions(query), `episode_id ${order.beyond} {after:String}`];
    if (query.groupId !== undefined) conditions.push(IN_GROUP);
    if (query.update !== undefined) conditions.push(IN_BATCH);
    const rows = await this.store.queryRows<EpisodeRow>(selectEpisodes(conditions, order), {
      ...filterParams(query),
      runId,
      after,
      limit: query.limit + 1,
    });
    return toPage(rows, query.limit);
  }

  private async listByWindows(
    runId: string,
    query: EpisodesQuery,
    start: string,
  ): Promise<Page<EpisodeSummary>> {
    const order = orderOf(query);
    const filters = filterConditions(query);
    const size = filters.length === 0 ? query.limit + 1 : WINDOW_EPISODES;
    const sql = selectEpisodes(
      [...filters, 'episode_id >= {low:String}', 'episode_id <= {high:String}'],
      order,
    );
    const found: EpisodeRow[] = [];
    let after = start;
    for (let numWindows = 0; numWindows < MAX_WINDOWS; numWindows++) {
      const window = await this.nextWindow(runId, { after, size, order });
      if (!window) return toPage(found, query.limit);
      const [low, high] =
        order.direction === 'DESC' ? [window.last, window.first] : [window.first, window.last];
      const limit = query.limit + 1 - found.length;
      const params = { ...filterParams(query), runId, low, high, limit };
      found.push(...(await this.store.queryRows<EpisodeRow>(sql, params)));
      if (found.length > query.limit || window.isFinal) return toPage(found, query.limit);
      after = window.last;
    }
    return { items: found.map(toEpisodeSummary), nextCursor: encodeCursor([after]) };
  }

  private async nextWindow(
    runId: string,
    { after, size, order }: { readonly after: string; readonly size: number; readonly order: Order },
  ): Promise<Window | null> {
    const sql = `
      SELECT min(episode_id) AS low, max(episode_id) AS high, count() AS num_episodes
      FROM (
        SELECT episode_id
        FROM events
        WHERE run_id = {runId:String} AND episode_id != '' AND episode_id ${order.beyond} {after:String} AND kind = 'EpisodeStarted'
        ORDER BY run_id ${order.direction}, episode_id ${order.direction}
        LIMIT {size:UInt32}
      )`;
    const [{ low, high, num_episodes: numEpisodes }] = await this.store.queryRows<{
      low: string;
      high: string;
      num_episodes: number;
    }>(sql, { runId, after, size });
    if (numEpisodes === 0) return null;
    const [first, last] = order.direction === 'DESC' ? [high, low] : [low, high];
    return { first, last, isFinal: numEpisodes < size };
  }
}

interface Order {
  readonly direction: 'ASC' | 'DESC';
  /** Operator that holds for what comes later in the list. */
  readonly beyond: '<' | '>';
}

function orderOf({ sort }: EpisodesQuery): Order {
  return sort === 'newest' ? { direction: 'DESC', beyond: '<' } : { direction: 'ASC', beyond: '>' };
}

function toPage(rows: readonly EpisodeRow[], limit: number): Page<EpisodeSummary> {
  return pageOf(rows, limit, { toItem: toEpisodeSummary, keyOf: (row) => [row.episode_id] });
}

function selectEpisodes(conditions: readonly string[], { direction }: Order): string {
  return `
    SELECT ${EPISODE_COLUMNS}
    FROM episodes
    WHERE ${['run_id = {runId:String}', ...conditions].join(' AND ')}
    ORDER BY episode_id ${direction}
    LIMIT {limit:UInt32}`;
}

const IN_GROUP = `episode_id IN (
  SELECT episode_id
  FROM events
  WHERE run_id = {runId:String} AND episode_id != '' AND kind = 'EpisodeStarted' AND group_id = {groupId:String})`;

const IN_BATCH = `episode_id IN (
  SELECT arrayJoin(JSONExtract(payload, 'episodeIds', 'Array(String)'))
  FROM current_trainer_events
  WHERE run_id = {runId:String} AND kind = 'BatchPlanned' AND update_number = {update:UInt64})`;

const FILTER_OF = {
  split: 'split = {split:String}',
  agent: 'agent = {agent:String}',
  sealed: 'sealed = {sealed:Bool}',
  success: 'success = {success:Bool}',
} as const;

function filterConditions(query: EpisodesQuery): string[] {
  return Object.entries(FILTER_OF)
    .filter(([name]) => query[name as keyof typeof FILTER_OF] !== undefined)
    .map(([, condition]) => condition);
}

function filterParams({
  split,
  agent,
  sealed,
  success,
  groupId,
  update,
}: EpisodesQuery): Record<string, unknown> {
  const params = { split, agent, sealed, success, groupId, update };
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}
