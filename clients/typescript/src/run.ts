import { Episode, nowUs, type AnnotationFields, type EpisodeOptions, type RewardFields } from './episode.js';
import type { ReadOptions } from './read/read-options.js';
import { readBatches, type Batch, type BatchOptions } from './read/batches.js';
import { tailRun, type LiveMessage } from './read/tail.js';
import type { Sender } from './sender/sender.js';
import { uuidV7 } from './uuid-v7.js';
import type { ApiConnection } from './wire/api-connection.js';
import type { RunEnd, RunRecord } from './wire/records.js';

/** One run: what its agents do is recorded, and read back. */
export class Run {
  constructor(
    readonly id: string,
    private readonly sender: Sender,
    private readonly connection: ApiConnection,
  ) {}

  /** Begins an episode. Returns at once. */
  episode({ id = uuidV7(), ...fields }: EpisodeOptions = {}): Episode {
    const episode = new Episode(this.id, id, {
      take: (record) => this.record(record),
      countDropped: () => {
        this.sender.countDropped();
      },
    });
    episode.begin(fields);
    return episode;
  }

  /** Rewards an episode by its id: one that has ended, or that another process recorded. */
  reward(fields: RewardFields & { readonly episode: string }): void {
    this.record({ type: 'reward', id: crypto.randomUUID(), occurredAt: nowUs(), ...fields });
  }

  /** Replaces tags or metadata of an episode by its id. */
  annotate(fields: AnnotationFields & { readonly episode: string }): void {
    this.record({ type: 'annotation', id: crypto.randomUUID(), occurredAt: nowUs(), ...fields });
  }

  /** Takes a record as it will be sent. @returns whether it was taken in */
  record(record: RunRecord): boolean {
    return this.sender.enqueue({ kind: 'record', run: this.id, content: record });
  }

  /** Ends the run. Rewards, annotations and late episodes may still come. */
  end(end: RunEnd = { reason: 'finished' }): void {
    this.sender.enqueue({ kind: 'end', run: this.id, content: end });
  }

  /** Follows the run's events, from now on, until it ends. Connects again when the connection breaks. */
  tail(options: ReadOptions = {}): AsyncGenerator<LiveMessage> {
    return tailRun(this.connection, this.id, options);
  }

  /** Reads the run's episodes that have ended, page by page, with their steps and tokens as Arrow tables. */
  batches(options: BatchOptions = {}): AsyncGenerator<Batch> {
    return readBatches(this.connection, this.id, options);
  }
}
