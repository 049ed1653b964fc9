import type { ClickHouseSettings } from '@clickhouse/client';
import { type EventLog, trajectoriesStored } from '@retrace/log';
import { type EpisodeColumns, TrajectoryError } from '@retrace/trajectory';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import type { StoreClient } from '../client/store-client.js';
import { isUpToDate } from '../position/backlog.js';
import { amongEpisodes, requireEpisodeIds } from './among-episodes.js';
import { concatEpisodeColumns } from './concat-episode-columns.js';
import { EpisodeRows, selectEpisodeRows } from './episode-rows.js';
import { type EpisodeTexts, queryEpisodeTexts } from './episode-texts.js';
import {
  readDatasetFacts,
  readEpisodesFacts,
  type SamplingFacts,
  type SamplingQuery,
} from './sampling-facts.js';

/** A reward that was assigned to a step or an episode afterwards. */
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
  /** The missing event, and the dead letters that name the episode: the end of a sentence. */
  readonly missing: string;
}

export interface TrajectoryReaderOptions {
  /** Episodes in one query, which limits the memory of an answer on both sides (default 512). */
  readonly maxEpisodesPerQuery?: number;
}

const READ_SETTINGS: ClickHouseSettings = {
  // The slice limits the size of an answer. Fewer and larger blocks cost less than the engine's default of 1 MB.
  preferred_block_size_bytes: '16000000',
  // The primary key finds the episodes. The other indexes exclude nothing more and take a tenth of a random read.
  use_skip_indexes: 0,
  // The expressions take no time, but compiling them would.
  compile_expressions: 0,
};

/** Slices that are asked for before they are needed, so that the engine always has work. */
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
   * Reads whole episodes, in the order asked for; an id may come more than once.
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
   * Reads the same, `maxEpisodesPerQuery` episodes at a time, for more episodes than memory holds. Up to three slices are in memory:
   * the next two are asked for while one is used.
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
      // Nobody waits for this answer when the one before it failed.
      answer.catch(() => undefined);
      return answer;
    };
    try {
      const asked = slices.slice(0, SLICES_AHEAD).map(ask);
      for (const [i, slice] of slices.entries()) {
        const bytes = await (asked.shift() as Promise<Uint8Array>);
        if (i + SLICES_AHEAD < slices.length) asked.push(ask(slices[i + SLICES_AHEAD]));
        const columns = new EpisodeRows(ArrowColumns.read(bytes)).toColumns(slice);
        // The columns are copies, so the answer's memory is used again. New memory for every answer makes V8 collect garbage often.
        rooms.push(new Uint8Array(bytes.buffer));
        yield columns;
      }
    } finally {
      abort.abort();
    }
  }

  /**
   * Resolves true once the sinks say that the store has all trajectories which the log holds at the time of the call; false after `timeoutMs`, or
   * when the signal aborts.
   */
  untilCaughtUp(
    log: EventLog,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<boolean> {
    return trajectoriesStored(log, options);
  }

  /**
   * Finds the episodes that will never be complete: the store has all that the log holds and still lacks one of their events, which
   * became a dead letter or never came. Finds none while the store is behind the log.
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
        const found = rows.find(episodeId);
        if (found.kind === 'incomplete')
          lost.push({ episodeId, missing: found.missing + (await this.describeDeadLetters(episodeId)) });
      }
    }
    return lost;
  }

  private async describeDeadLetters(episodeId: string): Promise<string> {
    const rows = await this.client.queryRows<{ text: string }>(
      `SELECT concat(log_stream, '/', toString(log_partition), ' offset ', toString(log_offset), ': ', code, ', ', reason) AS text
       FROM dead_letters WHERE episode_id = {episodeId:String}
       ORDER BY log_partition, log_offset LIMIT 3`,
      { params: { episodeId } },
    );
    return rows.length === 0 ? '' : ` (dead letters ${rows.map(({ text }) => text).join('; ')})`;
  }

  /** Reads texts, tasks and named reward components of whole episodes, in the order asked for. Rewards are computed from them. */
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

  /** Reads what a sampler needs to know of the episodes of a data set; throws as `readDatasetFacts`. */
  readDatasetFacts(dataset: string, query: SamplingQuery): Promise<SamplingFacts> {
    return readDatasetFacts(this.client, { dataset, ...query });
  }

  /** Reads the same of episodes of a run; those that the store lacks are left out. */
  readEpisodesFacts(
    runId: string,
    episodeIds: readonly string[],
    query: SamplingQuery,
  ): Promise<SamplingFacts> {
    return readEpisodesFacts(this.client, { runId, episodeIds, ...query });
  }

  /** Reads the rewards that were assigned to these episodes, by episode and in log order; of two with one `seq` the first. */
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
