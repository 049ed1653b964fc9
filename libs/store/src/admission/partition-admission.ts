import type { LogRecord } from '@retrace/log';
import { type AnyEvent, episodeOrdinal, EpisodePlaces, fingerprintOf } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import type { StreamPartition } from '../position/stream-partition.js';
import type { Admission, Admitted } from './admission.js';
import { namedEpisodes } from './named-episodes.js';
import { OrdinalWindow } from './ordinal-window.js';
import { readNewestEpisode, readPlaces, readRunEdges } from './read-places.js';

export interface PartitionAdmissionParts {
  readonly client: StoreClient;
  readonly position: StreamPartition;
  readonly maxEventBytes: number;
  /** How many episodes are remembered whose rows the store holds (default 4,096); others are looked up again. */
  readonly maxEpisodes?: number;
}

interface KnownRun {
  /** In the order in which they were met. */
  readonly episodes: Map<string, EpisodePlaces>;
  readonly ordinals: OrdinalWindow;
}

/**
 * Remembers the episodes that go on, and reads from the store what it has forgotten, or never saw: an episode that it can't be sure is
 * new. The store has every row before the first one that is remembered, so what it says and what is remembered are together the records
 * before.
 */
export class PartitionAdmission implements Admission {
  readonly maxEventBytes: number;
  private readonly maxEpisodes: number;
  private readonly runs = new Map<string, KnownRun>();
  private numEpisodes = 0;
  /** Of stream `control`: those that have started; null until that was read. */
  private startedRuns: Set<string> | null = null;

  constructor(private readonly parts: PartitionAdmissionParts) {
    this.maxEventBytes = parts.maxEventBytes;
    this.maxEpisodes = parts.maxEpisodes ?? 4_096;
  }

  episodeOf(runId: string, episodeId: string): EpisodePlaces | null {
    const run = this.runs.get(runId);
    if (run === undefined) return null;
    const known = run.episodes.get(episodeId);
    if (known !== undefined) return known;
    const ordinal = episodeOrdinal(runId, episodeId);
    if (ordinal === null || !run.ordinals.isNew(ordinal)) return null;
    return this.remember(run, runId, episodeId);
  }

  admitControl({ kind, runId }: AnyEvent): Admitted {
    if (this.startedRuns === null) return 'unknown';
    if (kind === 'RunDeleted') this.startedRuns.delete(runId);
    else if (kind === 'RunStarted') this.startedRuns.add(runId);
    else if (runId !== '' && !this.startedRuns.has(runId)) return 'no';
    return 'yes';
  }

  async learn(records: readonly LogRecord[]): Promise<void> {
    const before = records[0].offset;
    if (this.parts.position.stream === 'control') return this.learnStartedRuns(before);
    for (const [runId, episodeIds] of namedEpisodes(records)) {
      if (!this.runs.has(runId)) await this.learnRun(runId);
      const unknown = [...episodeIds].filter((episodeId) => this.episodeOf(runId, episodeId) === null);
      if (unknown.length > 0) await this.learnEpisodes(runId, unknown, before);
    }
  }

  /** Forgets episodes, where there are many, of which the store has all rows. */
  stored(nextOffset: number): void {
    if (this.numEpisodes <= this.maxEpisodes) return;
    for (const [runId, { episodes }] of this.runs) {
      for (const [episodeId, { lastOffset }] of episodes) {
        if (this.numEpisodes <= this.maxEpisodes) return;
        if (lastOffset >= nextOffset) continue;
        episodes.delete(episodeId);
        this.numEpisodes--;
      }
      if (episodes.size === 0) this.runs.delete(runId);
    }
  }

  private async learnStartedRuns(before: number): Promise<void> {
    const { client, position } = this.parts;
    this.startedRuns = new Set();
    for (const { runId, kind } of await readRunEdges(client, position, { before })) {
      if (kind === 'RunStarted') this.startedRuns.add(runId);
      else this.startedRuns.delete(runId);
    }
  }

  private async learnRun(runId: string): Promise<void> {
    const { client, position } = this.parts;
    // As `episodeIdFor` makes them: the run's start, then the ordinal.
    const newest = await readNewestEpisode(client, position, { runId, prefix: `${runId.slice(0, 14)}8` });
    const ordinals = new OrdinalWindow(newest === '' ? -1 : (episodeOrdinal(runId, newest) ?? Infinity));
    this.runs.set(runId, { episodes: new Map(), ordinals });
  }

  private async learnEpisodes(runId: string, episodeIds: readonly string[], before: number): Promise<void> {
    const { client, position } = this.parts;
    const rows = await readPlaces(client, position, { runId, episodeIds, before });
    const run = this.runs.get(runId);
    if (run === undefined) return;
    for (const episodeId of episodeIds) this.remember(run, runId, episodeId);
    for (const { episodeId, kind, seq, checksum } of rows)
      run.episodes.get(episodeId)?.take(kind, seq, fingerprintOf(checksum));
  }

  private remember(run: KnownRun, runId: string, episodeId: string): EpisodePlaces {
    const episode = new EpisodePlaces();
    run.episodes.set(episodeId, episode);
    this.numEpisodes++;
    const ordinal = episodeOrdinal(runId, episodeId);
    if (ordinal !== null) run.ordinals.add(ordinal);
    return episode;
  }
}
