import { Injectable } from '@nestjs/common';
import { decodeCursor, encodeCursor } from '../paging/cursor.js';
import { makePage, type Page } from '../paging/page.js';
import { RunStarts } from '../store/run-starts.js';
import { StoreService } from '../store/store.service.js';
import { EPISODE_END_COLUMNS, toEpisodeListItems, type EpisodeEndRow } from './episode-ends.js';
import {
  BATCH_CONDITION,
  episodeTest,
  filterConditions,
  filterParams,
  GROUP_CONDITION,
  hasFilter,
} from './episode-filter.js';
import { toEpisodeListItem } from './episode-row.js';
import type { EpisodesQuery, EpisodeListItem } from './episodes.dto.js';

/** Sorts after every UUID. */
const AFTER_ALL = '~';

/** Episodes searched for matches of a filter by each further query of one request: few first. */
const WINDOWS_EPISODES = [1_000, 4_000, 15_000, 20_000, 20_000, 20_000, 20_000];

/** Of episodes, read at first where a filter is on: most filters find a page among them. */
const FIRST_PAGES = 4;

/**
 * Lists episodes in bounded time, however many the run has.
 *
 * Episode ids sort by start, and so do the rows of the store. The list searches windows of neighbouring episodes and
 * stops after 100,000: when few episodes match a filter, the page is short and its cursor continues from there.
 */
@Injectable()
export class EpisodeListService {
  constructor(
    private readonly store: StoreService,
    private readonly starts: RunStarts,
  ) {}

  async list(runId: string, query: EpisodesQuery): Promise<Page<EpisodeListItem>> {
    const [after] = query.cursor ? decodeCursor(query.cursor, ['string']) : [toOrder(query).start];
    if (!(await this.starts.has(runId))) return { items: [], nextCursor: null };
    if (query.groupId !== undefined || query.update !== undefined) return this.listNamed(runId, query, after);
    if (hasFilter(query)) return this.search(runId, query, after);
    return toPage(await this.readNext(runId, query, { after, wanted: query.limit + 1 }), query.limit);
  }

  /**
   * The next episodes, at most `wanted`, read in the order of the sorting key. Skipping indexes are off: evaluating them for each of the
   * sink's many parts costs more than they save.
   *
   * @param among condition on `episode_id` (default: all)
   */
  private async readNext(
    runId: string,
    query: EpisodesQuery,
    { after, wanted, among = 'true', ...params }: NextEpisodes,
  ): Promise<EpisodeListItem[]> {
    const { direction, beyond } = toOrder(query);
    const sql = `
      SELECT ${EPISODE_END_COLUMNS}
      FROM events
      WHERE run_id = {runId:String} AND episode_id > '' AND episode_id ${beyond} {after:String} AND ${among}
        AND kind IN ('EpisodeStarted', 'EpisodeEnded', 'EpisodeAnnotated')
      ORDER BY run_id ${direction}, episode_id ${direction}
      LIMIT {size:UInt32}
      SETTINGS use_skip_indexes = 0`;
    // An episode has two records, and more only when it was annotated or some were delivered again. The last episode of a full answer may be incomplete.
    for (let size = 2 * (wanted + 1); ; size *= 2) {
      const records = await this.store.queryRows<EpisodeEndRow>(sql, { ...params, runId, after, size });
      const isWhole = records.length < size;
      const last = records.at(-1)?.episodeId;
      const episodes = toEpisodeListItems(
        isWhole ? records : records.filter(({ episodeId }) => episodeId !== last),
      );
      if (isWhole || episodes.length >= wanted) return episodes.slice(0, wanted);
    }
  }

  /** The episodes of one group or batch, which are few. */
  private async listNamed(
    runId: string,
    query: EpisodesQuery,
    after: string,
  ): Promise<Page<EpisodeListItem>> {
    const { groupId, update, limit } = query;
    const named = [
      ...(groupId === undefined ? [] : [GROUP_CONDITION]),
      ...(update === undefined ? [] : [BATCH_CONDITION]),
    ].join(' AND ');
    if (!hasFilter(query)) {
      const next = { after, wanted: limit + 1, among: named, groupId, update };
      return toPage(await this.readNext(runId, query, next), limit);
    }
    const { beyond, direction } = toOrder(query);
    const sql = `
      SELECT episode_id
      FROM stored_episodes
      WHERE ${['run_id = {runId:String}', `episode_id ${beyond} {after:String}`, named, ...filterConditions(query, named)].join(' AND ')}
      ORDER BY episode_id ${direction}
      LIMIT {limit:UInt32}`;
    const params = { ...filterParams(query), runId, after, limit: limit + 1 };
    const found = await this.store.queryRows<{ episodeId: string }>(sql, params);
    return this.readPage(
      runId,
      query,
      found.map(({ episodeId }) => episodeId),
    );
  }

  /**
   * Looks at the first few episodes themselves, if the filter asks for nothing else. Then finds ids, reading only the columns of the filter, and
   * reads the rows of these ids.
   */
  private async search(runId: string, query: EpisodesQuery, start: string): Promise<Page<EpisodeListItem>> {
    const found: string[] = [];
    let after = start;
    const test = episodeTest(query);
    if (test !== null) {
      const wanted = FIRST_PAGES * query.limit;
      const first = await this.readNext(runId, query, { after, wanted });
      const matching = first.filter(test);
      if (matching.length > query.limit || first.length < wanted) return toPage(matching, query.limit);
      found.push(...matching.map(({ episodeId }) => episodeId));
      after = first[first.length - 1].episodeId;
    }
    for (const size of WINDOWS_EPISODES) {
      const window = { ...query, after, size };
      found.push(...(await this.findInWindow(runId, window)));
      if (found.length > query.limit) return this.readPage(runId, query, found);
      const end = await this.endOfWindow(runId, window);
      if (end === null) return this.readPage(runId, query, found);
      after = end;
    }
    const { items } = await this.readPage(runId, query, found);
    return { items, nextCursor: encodeCursor([after]) };
  }

  /** Ids of the matching episodes in a window. */
  private async findInWindow(runId: string, { after, size, ...query }: Window): Promise<string[]> {
    const { direction, beyond, notBeyond, last } = toOrder(query);
    const sql = `
      WITH (SELECT ${last}(episode_id) FROM (${makeWindow(query)})) AS window_end
      SELECT episode_id
      FROM stored_episodes
      WHERE ${[
        'run_id = {runId:String}',
        `episode_id ${beyond} {after:String}`,
        `episode_id ${notBeyond} window_end`,
        ...filterConditions(
          query,
          `episode_id ${beyond} {after:String} AND episode_id ${notBeyond} window_end`,
        ),
      ].join(' AND ')}
      ORDER BY episode_id ${direction}
      LIMIT {limit:UInt32}`;
    const params = { ...filterParams(query), runId, after, size, limit: query.limit + 1 };
    const rows = await this.store.queryRows<{ episodeId: string }>(sql, params);
    return rows.map(({ episodeId }) => episodeId);
  }

  /** Last episode of a window; null when it reaches the end of the list. */
  private async endOfWindow(runId: string, { after, size, ...query }: Window): Promise<string | null> {
    const sql = `SELECT ${toOrder(query).last}(episode_id) AS window_end, count() AS num_episodes FROM (${makeWindow(query)})`;
    const [row] = await this.store.queryRows<{ windowEnd: string; numEpisodes: number }>(sql, {
      runId,
      after,
      size,
    });
    return row.numEpisodes < size ? null : row.windowEnd;
  }

  /** The page of these episodes, which are in the order of the list. */
  private async readPage(
    runId: string,
    query: EpisodesQuery,
    found: readonly string[],
  ): Promise<Page<EpisodeListItem>> {
    const episodeIds = found.slice(0, query.limit + 1);
    if (episodeIds.length === 0) return { items: [], nextCursor: null };
    const next = {
      ...{ after: toOrder(query).start, wanted: episodeIds.length, episodeIds },
      among: 'episode_id IN {episodeIds:Array(String)}',
    };
    return toPage(await this.readNext(runId, query, next), query.limit);
  }
}

interface NextEpisodes {
  readonly after: string;
  readonly wanted: number;
  readonly among?: string;
  /** Values of the placeholders in `among`. */
  readonly groupId?: string;
  readonly update?: number;
  readonly episodeIds?: readonly string[];
}

/** The next `size` episodes of the list after the one `after`, and what is asked of them. */
interface Window extends EpisodesQuery {
  readonly after: string;
  readonly size: number;
}

interface Order {
  readonly direction: 'ASC' | 'DESC';
  /** Operators for ids later in the list, and for ids that are not. */
  readonly beyond: '<' | '>';
  readonly notBeyond: '>=' | '<=';
  /** Aggregate that selects the last id in the order of the list. */
  readonly last: 'min' | 'max';
  /** Cursor position before the first episode of the list. */
  readonly start: string;
}

function toOrder({ sort }: EpisodesQuery): Order {
  return sort === 'newest'
    ? { direction: 'DESC', beyond: '<', notBeyond: '>=', last: 'min', start: AFTER_ALL }
    : { direction: 'ASC', beyond: '>', notBeyond: '<=', last: 'max', start: '' };
}

/** The next episodes of the run in the order of the list, read in the order of the sorting key. */
function makeWindow(query: EpisodesQuery): string {
  const { direction, beyond } = toOrder(query);
  return `
    SELECT episode_id
    FROM events
    WHERE run_id = {runId:String} AND episode_id != '' AND episode_id ${beyond} {after:String} AND kind = 'EpisodeStarted'
    ORDER BY run_id ${direction}, episode_id ${direction}
    LIMIT {size:UInt32}`;
}

function toPage(rows: readonly EpisodeListItem[], limit: number): Page<EpisodeListItem> {
  return makePage(rows, limit, { toItem: toEpisodeListItem, keyOf: (row) => [row.episodeId] });
}
