import type { LogRecord } from '@retrace/log';
import { type AnyEvent, EpisodePlaces, fingerprintOf } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import type { StreamPartition } from '../position/stream-partition.js';
import type { Admission, Admitted } from './admission.js';
import { namedEpisodes } from './named-episodes.js';
import { type PlaceRow, readPlaces, readRunEdges, type RunEdgeRow } from './read-places.js';

export interface AdmissionInPastParts {
  readonly client: StoreClient;
  readonly position: StreamPartition;
  readonly maxEventBytes: number;
}

interface PastEpisode {
  readonly places: EpisodePlaces;
  /** Its rows in log order, those before `next` are in `places`. */
  readonly rows: PlaceRow[];
  next: number;
}

/**
 * The admission of records that lie among rows the store has: each is judged beside the rows before it, however many came behind it since.
 */
export class AdmissionInPast implements Admission {
  readonly maxEventBytes: number;
  private readonly episodes = new Map<string, PastEpisode>();
  private runEdges: readonly RunEdgeRow[] = [];
  private offset = 0;

  constructor(private readonly parts: AdmissionInPastParts) {
    this.maxEventBytes = parts.maxEventBytes;
  }

  /** The next record to be judged lies there; call in the order of offsets. */
  goTo(offset: number): void {
    this.offset = offset;
  }

  episodeOf(runId: string, episodeId: string): EpisodePlaces | null {
    const episode = this.episodes.get(`${runId} ${episodeId}`);
    if (episode === undefined) return null;
    const { places, rows } = episode;
    for (; episode.next < rows.length && rows[episode.next].offset < this.offset; episode.next++) {
      const { kind, seq, checksum } = rows[episode.next];
      places.take(kind, seq, fingerprintOf(checksum));
    }
    return places;
  }

  admitControl({ kind, runId }: AnyEvent): Admitted {
    if (kind === 'RunStarted' || kind === 'RunDeleted' || runId === '') return 'yes';
    const edge = this.runEdges.findLast((each) => each.runId === runId && each.offset < this.offset);
    return edge?.kind === 'RunStarted' ? 'yes' : 'no';
  }

  async learn(records: readonly LogRecord[]): Promise<void> {
    const { client, position } = this.parts;
    if (position.stream === 'control') {
      this.runEdges = await readRunEdges(client, position);
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
