import type { LogRecord } from '@retrace/log';
import {
  type AnyEvent,
  type DeletedRuns,
  episodeRank,
  EpisodePlaces,
  toFingerprint,
  RankWindow,
} from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import type { StreamPartition } from '../rows/stream-partition.js';
import type { Admission, ControlAdmission, RecordOwner } from './admission.js';
import { isDeleted } from './deletion-watch.js';
import { namedEpisodes } from './named-episodes.js';
import { readNewestEpisode, readPlaces, readRunEdges } from './read-places.js';
import { toRunEdge, StartedRuns } from './started-runs.js';

export interface PartitionAdmissionParts {
  readonly client: StoreClient;
  readonly position: StreamPartition;
  readonly maxEventBytes: number;
  readonly deletedRuns: DeletedRuns;
  /** How many episodes are remembered whose rows the store holds (default 4,096); others are looked up again. */
  readonly maxEpisodes?: number;
}

interface KnownRun {
  /** In the order in which their first records came. */
  readonly episodes: Map<string, EpisodePlaces>;
  readonly ranks: RankWindow;
}

/**
 * Decides about records in log order, as a sink meets them.
 *
 * Remembers the episodes that are under way. An episode that it has forgotten, or may have missed, is read from the store, which has
 * every row before the first record that is remembered: the two together are all records before the next one.
 */
export class PartitionAdmission implements Admission {
  readonly maxEventBytes: number;
  private readonly maxEpisodes: number;
  private readonly runs = new Map<string, KnownRun>();
  private numEpisodes = 0;
  /** Of stream `control`; undefined until it was read. */
  private startedRuns: StartedRuns | undefined;

  constructor(private readonly parts: PartitionAdmissionParts) {
    this.maxEventBytes = parts.maxEventBytes;
    this.maxEpisodes = parts.maxEpisodes ?? 4_096;
  }

  isDeleted(record: LogRecord, known?: RecordOwner): boolean {
    return isDeleted(record, this.parts.position, this.parts.deletedRuns, known);
  }

  hasDeletedEpisode(runId: string, episodeId: string): boolean {
    return this.parts.deletedRuns.hasEpisode(runId, episodeId);
  }

  findPlaces(runId: string, episodeId: string): EpisodePlaces | undefined {
    const run = this.runs.get(runId);
    if (run === undefined) return undefined;
    const known = run.episodes.get(episodeId);
    if (known !== undefined) return known;
    const rank = episodeRank(runId, episodeId);
    if (rank === null || !run.ranks.isNew(rank)) return undefined;
    return this.remember(run, runId, episodeId);
  }

  holdsEpoch(runId: string, epoch: number): boolean {
    return this.startedRuns?.holdsEpoch(runId, epoch) === true;
  }

  admitControl(event: AnyEvent): ControlAdmission {
    const { kind, runId } = event;
    if (this.startedRuns === undefined) return 'retry';
    const edge = toRunEdge(event);
    if (edge !== null) this.startedRuns.apply(edge);
    const needsRun = kind !== 'RunDeleted' && kind !== 'EpisodesDeleted' && runId !== '';
    return needsRun && !this.startedRuns.has(runId) ? 'unknownRun' : 'accepted';
  }

  async learn(records: readonly LogRecord[]): Promise<void> {
    const before = records[0].offset;
    if (this.parts.position.stream === 'control') return this.learnStartedRuns(before);
    for (const [runId, episodeIds] of namedEpisodes(records)) {
      if (!this.runs.has(runId)) await this.learnRun(runId);
      const unknown = [...episodeIds].filter((episodeId) => this.findPlaces(runId, episodeId) === undefined);
      if (unknown.length > 0) await this.learnEpisodes(runId, unknown, before);
    }
  }

  /** Tells that the store has all rows before `nextOffset`: with many episodes, those that ended there are forgotten. */
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
    const runs = new StartedRuns();
    for (const edge of await readRunEdges(client, position, { before })) runs.apply(edge);
    this.startedRuns = runs;
  }

  private async learnRun(runId: string): Promise<void> {
    const { client, position } = this.parts;
    // The form of an id that `episodeIdFor` makes: the beginning of the run's id, then the ordinal.
    const newest = await readNewestEpisode(client, position, { runId, prefix: `${runId.slice(0, 14)}8` });
    const ranks = new RankWindow(newest === '' ? -1 : (episodeRank(runId, newest) ?? Infinity));
    this.runs.set(runId, { episodes: new Map(), ranks });
  }

  private async learnEpisodes(runId: string, episodeIds: readonly string[], before: number): Promise<void> {
    const { client, position } = this.parts;
    const rows = await readPlaces(client, position, { runId, episodeIds, before });
    const run = this.runs.get(runId);
    if (run === undefined) return;
    for (const episodeId of episodeIds) this.remember(run, runId, episodeId);
    for (const { episodeId, kind, seq, checksum } of rows)
      run.episodes.get(episodeId)?.take(kind, seq, toFingerprint(checksum));
  }

  private remember(run: KnownRun, runId: string, episodeId: string): EpisodePlaces {
    const places = new EpisodePlaces();
    run.episodes.set(episodeId, places);
    this.numEpisodes++;
    const rank = episodeRank(runId, episodeId);
    if (rank !== null) run.ranks.add(rank);
    return places;
  }
}
