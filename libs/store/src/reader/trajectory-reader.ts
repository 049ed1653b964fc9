import type { ClickHouseSettings } from '@clickhouse/client';
import type { EventLog } from '@retrace/log';
import { type EpisodeColumns, TrajectoryError } from '@retrace/trajectory';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import type { StoreClient } from '../client/store-client.js';
import { isUpToDate } from '../position/backlog.js';
import { amongEpisodes, requireEpisodeIds } from './among-episodes.js';
import { concatEpisodeColumns } from './concat-episode-columns.js';
import { EpisodeRows, selectEpisodeRows } from './episode-rows.js';
import { type EpisodeTexts, queryEpisodeTexts } from './episode-texts.js';

/** A reward that was given to a step or an episode after the fact. */
export interface AssignedReward {
  readonly episodeId: string;
  /** Tells the assignments of the episode apart. */
  readonly seq: number;
  /** null = the whole episode. */
  readonly step: number | null;
  readonly name: string;
  /** null retracts an earlier value. */
  readonly value: number | null;
  readonly source: string;
  readonly rationale: string;
}

/** An episode that lacks an event which won't come. */
export interface LostEpisode {
  readonly episodeId: string;
  /** What, and which dead letters name the episode: the end of a sentence. */
  readonly missing: string;
}

export interface TrajectoryReaderOptions {
  /** Episodes a query asks for: bounds the memory of an answer on both sides (default 512). */
  readonly maxEpisodesPerQuery?: number;
}

const READ_SETTINGS: ClickHouseSettings = {
  // A slice in few large blocks, which bounds it anyway: by default the engine cuts it into blocks of 1 MB, each with its own cost.
  preferred_block_size_bytes: '16000000',
  // The primary key finds the episodes; asking the other indexes beside it costs a tenth of a read at random and rules out nothing.
  use_skip_indexes: 0,
  // Machine code for expressions that take no time.
  compile_expressions: 0,
};

/** While one answer is on its way, the engine works on the next. */
const SLICES_AHEAD = 2;

/** Reads trajectories out of the store by key, for training. */
export class TrajectoryReader {
  private readonly maxEpisodesPerQuery: number;

  constructor(
    private readonly client: StoreClient,
    { maxEpisodesPerQuery = 512 }: TrajectoryReaderOptions = {},
  ) {
    this.maxEpisodesPerQuery = maxEpisodesPerQuery;
  }

  /**
   * Whole episodes, in the order asked for; an id may come more than once.
   *
   * Neighbouring ids cost least: episode ids are time-ordered and so are the rows.
   *
   * @throws StoreError `NOT_YET_VISIBLE` (retriable) while the store lacks the start, the end or a step of one of them
   * @throws TrajectoryError `INVALID_ID` for an id that is no UUID
   */
  async readEpisodes(runId: string, episodeIds: readonly string[]): Promise<EpisodeColumns> {
    const slices: EpisodeColumns[] = [];
    for await (const slice of this.readSlices(runId, episodeIds)) slices.push(slice);
    return concatEpisodeColumns(slices);
  }

  /**
   * The same, `maxEpisodesPerQuery` episodes at a time: for more than memory holds. The next two slices are asked for while one is
   * worked on, so three are there at once.
   *
   * @throws as `readEpisodes`
   */
  async *readSlices(runId: string, episodeIds: readonly string[]): AsyncGenerator<EpisodeColumns> {
    requireEpisodeIds(episodeIds);
    const slices: (readonly string[])[] = [];
    for (let from = 0; from < episodeIds.length; from += this.maxEpisodesPerQuery) {
      slices.push(episodeIds.slice(from, from + this.maxEpisodesPerQuery));
    }
    if (slices.length === 0) return;
    const abort = new AbortController();
    const rooms: Uint8Array[] = [];
    const ask = (slice: readonly string[]): Promise<Uint8Array> => {
      const { signal } = abort;
      const answer = this.client.queryArrow(selectEpisodeRows(slice), {
        params: { runId },
        settings: READ_SETTINGS,
        signal,
        room: rooms.pop(),
      });
      // Whoever waits for it gets the failure; nobody does when the slice before it failed.
      answer.catch(() => undefined);
      return answer;
    };
    try {
      const asked = slices.slice(0, SLICES_AHEAD).map(ask);
      for (const [i, slice] of slices.entries()) {
        const bytes = await (asked.shift() as Promise<Uint8Array>);
        if (i + SLICES_AHEAD < slices.length) asked.push(ask(slices[i + SLICES_AHEAD]));
        const columns = new EpisodeRows(ArrowColumns.read(bytes)).toColumns(slice);
        // Copies, all of them. Memory that is new with every answer makes V8 collect garbage for every other one.
        rooms.push(new Uint8Array(bytes.buffer));
        yield columns;
      }
    } finally {
      abort.abort();
    }
  }

  /**
   * Those of these episodes that won't ever be whole: the store has all that the log holds, and lacks an event of them, which became
   * a dead letter or never came. None where the store is behind.
   */
  async findLost(log: EventLog, runId: string, episodeIds: readonly string[]): Promise<LostEpisode[]> {
    requireEpisodeIds(episodeIds);
    if (!(await isUpToDate(log, this.client))) return [];
    const lost: LostEpisode[] = [];
    for (let from = 0; from < episodeIds.length; from += this.maxEpisodesPerQuery) {
      const slice = episodeIds.slice(from, from + this.maxEpisodesPerQuery);
      const bytes = await this.client.queryArrow(selectEpisodeRows(slice), { params: { runId } });
      const rows = new EpisodeRows(ArrowColumns.read(bytes));
      for (const episodeId of slice) {
        const missing = rows.missingOf(episodeId);
        if (missing !== null)
          lost.push({ episodeId, missing: missing + (await this.deadLettersOf(episodeId)) });
      }
    }
    return lost;
  }

  private async deadLettersOf(episodeId: string): Promise<string> {
    const rows = await this.client.queryRows<{ text: string }>(
      `SELECT concat(log_stream, '/', toString(log_partition), ' offset ', toString(log_offset), ': ', code, ', ', reason) AS text
       FROM dead_letters WHERE episode_id = {episodeId:String}
       ORDER BY log_partition, log_offset LIMIT 3`,
      { params: { episodeId } },
    );
    return rows.length === 0 ? '' : ` (dead letters ${rows.map(({ text }) => text).join('; ')})`;
  }

  /** Texts, tasks and named reward parts of whole episodes, in the order asked for: what rewards beside the environment's read. */
  async readEpisodeTexts(runId: string, episodeIds: readonly string[]): Promise<EpisodeTexts[]> {
    requireEpisodeIds(episodeIds);
    const found = new Map<string, EpisodeTexts>();
    for (let from = 0; from < episodeIds.length; from += this.maxEpisodesPerQuery) {
      const slice = episodeIds.slice(from, from + this.maxEpisodesPerQuery);
      for (const [id, texts] of await queryEpisodeTexts(this.client, runId, slice)) found.set(id, texts);
    }
    return episodeIds.map((id) => {
      const texts = found.get(id);
      if (!texts) throw new TrajectoryError('INVALID_ID', `episode ${id} is not in run ${runId}`);
      return texts;
    });
  }

  /** The rewards that were assigned to these episodes, by episode and in log order; of two under one `seq` the first. */
  async readAssignedRewards(runId: string, episodeIds: readonly string[]): Promise<AssignedReward[]> {
    if (episodeIds.length === 0) return [];
    return this.client.queryRows<AssignedReward>(
      `SELECT episode_id AS episodeId, seq, reward_step AS step, reward_name AS name, reward AS value, source,
         JSONExtractString(payload, 'rationale') AS rationale
       FROM events
       WHERE run_id = {runId:String} AND ${amongEpisodes(episodeIds)}
         AND kind = 'RewardAssigned'
       ORDER BY episode_id, log_id, log_partition, log_offset
       LIMIT 1 BY episode_id, seq`,
      { params: { runId } },
    );
  }
}
