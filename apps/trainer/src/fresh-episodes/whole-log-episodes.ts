import { trajectoryEnds, type EventLog } from '@retrace/log';
import { StoreError, type EpisodeTexts, type LostEpisode } from '@retrace/store';
import type { EpisodeColumns } from '@retrace/trajectory';
import type { FactsSource } from '../plan/batch-sampler.js';
import type { ReplaySource } from '../replay/replayer.js';
import { TrainerError } from '../trainer-error.js';
import type { EpisodeSource } from '../plan/episode-source.js';
import { toEpisodeColumns, type WholeEpisode } from './episode-in-log.js';
import { EpisodeTail } from './episode-tail.js';

/**
 * Stands in for the store where there is none: looks for episodes in the whole log, which takes as long as the log is long. A run asks for few,
 * since what is fresh comes from `FreshEpisodes`: those of a batch that a trainer before this one had not committed.
 */
export class WholeLogEpisodes implements EpisodeSource, FactsSource {
  constructor(
    private readonly log: EventLog,
    private readonly signal: AbortSignal,
  ) {}

  /** @throws StoreError `NOT_YET_VISIBLE` (retriable) where the log lacks an event of one of them */
  async readEpisodes(runId: string, episodeIds: readonly string[]): Promise<EpisodeColumns> {
    const found = await this.find(runId, episodeIds);
    return toEpisodeColumns(whole(found, episodeIds));
  }

  /** @throws as `readEpisodes` */
  async readEpisodeTexts(runId: string, episodeIds: readonly string[]): Promise<EpisodeTexts[]> {
    const found = await this.find(runId, episodeIds);
    return whole(found, episodeIds).flatMap(({ texts }) => texts ?? []);
  }

  untilCaughtUp(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async findLost(_: EventLog, runId: string, episodeIds: readonly string[]): Promise<LostEpisode[]> {
    const found = await this.find(runId, episodeIds);
    const lost = episodeIds.filter((episodeId) => !found.has(episodeId));
    return lost.map((episodeId) => ({ episodeId, missing: 'the log lacks its start, its end or a step' }));
  }

  readDatasetFacts(): ReturnType<FactsSource['readDatasetFacts']> {
    return Promise.reject(needsStore('a source of data that is not "own"'));
  }

  readEpisodesFacts(): ReturnType<FactsSource['readEpisodesFacts']> {
    return Promise.reject(needsStore('what its sampler asks of the episodes'));
  }

  readAssignedRewards(): ReturnType<ReplaySource['reader']['readAssignedRewards']> {
    return Promise.reject(needsStore('rewards that are assigned afterwards'));
  }

  private async find(
    runId: string,
    episodeIds: readonly string[],
  ): Promise<ReadonlyMap<string, WholeEpisode>> {
    const { log, signal } = this;
    const ends = await trajectoryEnds(log);
    const from = await Promise.all(ends.map((_, partition) => log.startOffset('trajectories', partition)));
    const only = new Set(episodeIds);
    const tail = new EpisodeTail({ log, runId, from, only, keepsTexts: true, maxBytes: Infinity });
    try {
      return await tail.readAll(only, signal);
    } finally {
      await tail.close();
    }
  }
}

function whole(found: ReadonlyMap<string, WholeEpisode>, episodeIds: readonly string[]): WholeEpisode[] {
  return episodeIds.map((episodeId) => {
    const episode = found.get(episodeId);
    if (episode !== undefined) return episode;
    const message = `Episode ${episodeId} is incomplete in the log: it lacks its start, its end or a step`;
    throw new StoreError('NOT_YET_VISIBLE', message, { retriable: true });
  });
}

/** The error of a trainer that would need a store for this. */
export function needsStore(what: string): TrainerError {
  return new TrainerError(
    'STORE_NEEDED',
    `the recipe reads ${what} in the store, and this trainer has none: leave out --no-store, or set RETRACE_STORE_URL`,
  );
}
