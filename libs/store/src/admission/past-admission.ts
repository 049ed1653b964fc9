import type { LogRecord } from '@retrace/log';
import { type AnyEvent, EpisodePlaces, toFingerprint, isDeletionKind } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import type { StreamPartition } from '../rows/stream-partition.js';
import type { Admission, ControlAdmission } from './admission.js';
import { namedEpisodes } from './named-episodes.js';
import { type PlaceRow, readPlaces, readRunEdges, type RunEdgeRow } from './read-places.js';
import { StartedRuns } from './started-runs.js';

export interface PastAdmissionParts {
  readonly client: StoreClient;
  readonly position: StreamPartition;
  readonly maxEventBytes: number;
}

interface PastEpisode {
  readonly places: EpisodePlaces;
  /** Its rows in log order; `places` has those before index `next`. */
  readonly rows: PlaceRow[];
  next: number;
}

/**
 * Decides about dead letters again. Each is compared with the rows that were before it in the log, however many were added after it.
 * A deleted run has no dead letters in the store, so none is dropped.
 */
export class PastAdmission implements Admission {
  readonly maxEventBytes: number;
  private readonly episodes = new Map<string, PastEpisode>();
  private runEdges: readonly RunEdgeRow[] | undefined;
  /** Edges before this index are in `startedRuns`. */
  private nextEdge = 0;
  private startedRuns = new StartedRuns();
  private offset = 0;

  constructor(private readonly parts: PastAdmissionParts) {
    this.maxEventBytes = parts.maxEventBytes;
  }

  /** Sets the offset of the next record that is decided about; offsets must ascend. */
  goTo(offset: number): void {
    this.offset = offset;
  }

  isDeleted(): false {
    return false;
  }

  hasDeletedEpisode(): false {
    return false;
  }

  findPlaces(runId: string, episodeId: string): EpisodePlaces | undefined {
    const episode = this.episodes.get(`${runId} ${episodeId}`);
    if (episode === undefined) return undefined;
    const { places, rows } = episode;
    for (; episode.next < rows.length && rows[episode.next].offset < this.offset; episode.next++) {
      const { kind, seq, checksum } = rows[episode.next];
      places.take(kind, seq, toFingerprint(checksum));
    }
    return places;
  }

  admitControl({ kind, runId }: AnyEvent): ControlAdmission {
    if (kind === 'RunStarted' || isDeletionKind(kind) || runId === '') return 'accepted';
    if (this.runEdges === undefined) return 'retry';
    return this.runsBefore(this.runEdges).has(runId) ? 'accepted' : 'unknownRun';
  }

  holdsEpoch(runId: string, epoch: number): boolean {
    return this.runEdges !== undefined && this.runsBefore(this.runEdges).holdsEpoch(runId, epoch);
  }

  /** The runs as of the edges before the record that is decided about. */
  private runsBefore(edges: readonly RunEdgeRow[]): StartedRuns {
    for (; this.nextEdge < edges.length && edges[this.nextEdge].offset < this.offset; this.nextEdge++)
      this.startedRuns.apply(edges[this.nextEdge]);
    return this.startedRuns;
  }

  async learn(records: readonly LogRecord[]): Promise<void> {
    const { client, position } = this.parts;
    if (position.stream === 'control') {
      this.runEdges = await readRunEdges(client, position);
      this.startedRuns = new StartedRuns();
      this.nextEdge = 0;
      return;
    }
    for (const [runId, episodeIds] of namedEpisodes(records)) {
      for (const episodeId of episodeIds)
        this.episodes.set(`${runId} ${episodeId}`, { places: new EpisodePlaces(), rows: [], next: 0 });
      for (const row of await readPlaces(client, position, { runId, episodeIds: [...episodeIds] }))
        this.episodes.get(`${runId} ${row.episodeId}`)?.rows.push(row);
    }
  }
}
