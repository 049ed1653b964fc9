import { Injectable } from '@nestjs/common';
import { decodeCursor, encodeCursor } from '../http/cursor.js';
import { pageOf, type Page } from '../http/page.js';
import { StoreService } from '../store/store.service.js';
import { EPISODE_END_COLUMNS, episodesOf, type EpisodeEndRow } from './episode-ends.js';
import { batchCondition, filterConditions, filterParams, groupCondition } from './episode-filter.js';
import { EPISODE_COLUMNS, toEpisodeListItem, type EpisodeRow } from './episode-row.js';
import type { EpisodesQuery, EpisodeListItem } from './episodes.dto.js';

/** Sorts after every UUID. */
const AFTER_ALL = '~';

/** Episodes looked through in one query for those that pass a filter, and such queries in one request. */
const WINDOW_EPISODES = 20_000;
const MAX_WINDOWS = 5;

/**
 * Lists episodes in bounded time, however many the run has.
 *
 * Episode ids sort by start, and so do the rows of the store. So the list walks over windows of neighbouring episodes, and
 * a filter that few of them pass gives up after some windows: the page is then short, and its cursor goes on from there.
 */
@Injectable()
export class EpisodeListService {
  /** Runs whose start has been seen; it does not go away again but with all that they have. */
  private readonly started = new Set<string>();

  constructor(private readonly store: StoreService) {}

  async list(runId: string, query: EpisodesQuery): Promise<Page<EpisodeListItem>> {
    const order = orderOf(query);
    const [after] = query.cursor ? decodeCursor(query.cursor, ['string']) : [order.start];
    if (query.groupId !== undefined || query.update !== undefined) return this.listNamed(runId, query, after);
    if (filterConditions(query).length > 0) return this.search(runId, query, after);
    const [hasStarted, episodes] = await Promise.all([
      this.hasStarted(runId),
      this.readNext(runId, query, after),
    ]);
    return toPage(hasStarted ? episodes : [], query.limit);
  }

  /** Episodes of a run that has not started are in no view. */
  private async hasStarted(runId: string): Promise<boolean> {
    if (this.started.has(runId)) return true;
    const sql = `SELECT 1 FROM events WHERE run_id = {runId:String} AND episode_id = '' AND kind = 'RunStarted' LIMIT 1`;
    const [start] = await this.store.queryRows(sql, { runId });
    if (start !== undefined) this.started.add(runId);
    return start !== undefined;
  }

  /**
   * The next episodes, at most one more than asked for: read off the sorting key, without a look at the rest. Skipping indexes would
   * cost more than they spare, for each part that a sink has made.
   */
  private async readNext(runId: string, query: EpisodesQuery, after: string): Promise<EpisodeRow[]> {
    const { direction, beyond } = orderOf(query);
    const sql = `
      SELECT ${EPISODE_END_COLUMNS}
      FROM events
      WHERE run_id = {runId:String} AND episode_id > '' AND episode_id ${beyond} {after:String}
        AND kind IN ('EpisodeStarted', 'EpisodeEnded')
      ORDER BY run_id ${direction}, episode_id ${direction}
      LIMIT {size:UInt32}
      SETTINGS use_skip_indexes = 0`;
    const wanted = query.limit + 1;
    // Two records an episode; more only where some were delivered again. The last episode of a full answer may be cut.
    for (let size = 2 * (wanted + 1); ; size *= 2) {
      const records = await this.store.queryRows<EpisodeEndRow>(sql, { runId, after, size });
      const isWhole = records.length < size;
      const last = records.at(-1)?.episode_id;
      const episodes = episodesOf(isWhole ? records : records.filter(({ episode_id: id }) => id !== last));
      if (isWhole || episodes.length >= wanted) return episodes.slice(0, wanted);
    }
  }

  /** Few episodes, named by a group or a batch. */
  private async listNamed(
    runId: string,
    query: EpisodesQuery,
    after: string,
  ): Promise<Page<EpisodeListItem>> {
    const { beyond, direction } = orderOf(query);
    const named = [
      ...(query.groupId === undefined ? [] : [groupCondition]),
      ...(query.update === undefined ? [] : [batchCondition]),
    ];
    const sql = `
      SELECT ${EPISODE_COLUMNS}
      FROM episodes
      WHERE ${['run_id = {runId:String}', `episode_id ${beyond} {after:String}`, ...named, ...filterConditions(query)].join(' AND ')}
      ORDER BY episode_id ${direction}
      LIMIT {limit:UInt32}`;
    const params = { ...filterParams(query), runId, after, limit: query.limit + 1 };
    return toPage(await this.store.queryRows<EpisodeRow>(sql, params), query.limit);
  }

  /** Finds the ids first, over as few columns as the filter needs, then reads their rows. */
  private async search(runId: string, query: EpisodesQuery, start: string): Promise<Page<EpisodeListItem>> {
    const found: string[] = [];
    let after = start;
    for (let numWindows = 0; numWindows < MAX_WINDOWS; numWindows++) {
      found.push(...(await this.findInWindow(runId, query, after)));
      if (found.length > query.limit) return toPage(await this.readRows(runId, query, found), query.limit);
      const end = await this.endOfWindow(runId, query, after);
      if (end === null) return toPage(await this.readRows(runId, query, found), query.limit);
      after = end;
    }
    const rows = await this.readRows(runId, query, found);
    return { items: rows.map(toEpisodeListItem), nextCursor: encodeCursor([after]) };
  }

  /** Ids of those that pass the filter, among the next `WINDOW_EPISODES`. */
  private async findInWindow(runId: string, query: EpisodesQuery, after: string): Promise<string[]> {
    const { direction, beyond, notBeyond, last } = orderOf(query);
    const sql = `
      WITH (SELECT ${last}(episode_id) FROM (${windowOf(query)})) AS window_end
      SELECT episode_id
      FROM episodes
      WHERE ${[
        'run_id = {runId:String}',
        `episode_id ${beyond} {after:String}`,
        `episode_id ${notBeyond} window_end`,
        ...filterConditions(query),
      ].join(' AND ')}
      ORDER BY episode_id ${direction}
      LIMIT {limit:UInt32}`;
    const params = { ...filterParams(query), runId, after, size: WINDOW_EPISODES, limit: query.limit + 1 };
    const rows = await this.store.queryRows<{ episode_id: string }>(sql, params);
    return rows.map(({ episode_id: episodeId }) => episodeId);
  }

  /** Last episode of the window after `after`; null when the window reaches the end of the list. */
  private async endOfWindow(runId: string, query: EpisodesQuery, after: string): Promise<string | null> {
    const sql = `SELECT ${orderOf(query).last}(episode_id) AS window_end, count() AS num_episodes FROM (${windowOf(query)})`;
    const size = WINDOW_EPISODES;
    const [row] = await this.store.queryRows<{ window_end: string; num_episodes: number }>(sql, {
      runId,
      after,
      size,
    });
    return row.num_episodes < size ? null : row.window_end;
  }

  private readRows(
    runId: string,
    query: EpisodesQuery,
    episodeIds: readonly string[],
  ): Promise<EpisodeRow[]> {
    if (episodeIds.length === 0) return Promise.resolve([]);
    const sql = `
      SELECT ${EPISODE_COLUMNS}
      FROM episodes
      WHERE run_id = {runId:String} AND episode_id IN {episodeIds:Array(String)}
      ORDER BY episode_id ${orderOf(query).direction}`;
    return this.store.queryRows<EpisodeRow>(sql, { runId, episodeIds: episodeIds.slice(0, query.limit + 1) });
  }
}

interface Order {
  readonly direction: 'ASC' | 'DESC';
  /** Operators for what comes later in the list, and for what does not. */
  readonly beyond: '<' | '>';
  readonly notBeyond: '>=' | '<=';
  /** Aggregate that gives the last id of some. */
  readonly last: 'min' | 'max';
  /** What the whole list lies beyond. */
  readonly start: string;
}

function orderOf({ sort }: EpisodesQuery): Order {
  return sort === 'newest'
    ? { direction: 'DESC', beyond: '<', notBeyond: '>=', last: 'min', start: AFTER_ALL }
    : { direction: 'ASC', beyond: '>', notBeyond: '<=', last: 'max', start: '' };
}

/** The next episodes of the run in list order: read off the sorting key, without a look at the rest. */
function windowOf(query: EpisodesQuery): string {
  const { direction, beyond } = orderOf(query);
  return `
    SELECT episode_id
    FROM events
    WHERE run_id = {runId:String} AND episode_id != '' AND episode_id ${beyond} {after:String} AND kind = 'EpisodeStarted'
    ORDER BY run_id ${direction}, episode_id ${direction}
    LIMIT {size:UInt32}`;
}

function toPage(rows: readonly EpisodeRow[], limit: number): Page<EpisodeListItem> {
  return pageOf(rows, limit, { toItem: toEpisodeListItem, keyOf: (row) => [row.episode_id] });
}
