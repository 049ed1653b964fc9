import type { EventLog, LogRecord } from '@retrace/log';
import { admitRecord, type RecordAdmission } from '@retrace/store';
import { episodeRank, RankWindow, type AnyEvent, type EventKind } from '@retrace/trajectory';
import { decodeEvent, peekEnvelope, type KnownEvents } from '@retrace/trajectory/codec';
import { EpisodeInLog, type WholeEpisode } from './episode-in-log.js';

export interface EpisodeTailOptions {
  readonly log: EventLog;
  readonly runId: string;
  /** Where each partition of stream `trajectories` is read from: before every record of the episodes that will be asked for. */
  readonly from: readonly number[];
  /** Whether texts are kept too, for rewards that read them. */
  readonly keepsTexts: boolean;
  /** The episodes that are read; all of the run where it is left out. */
  readonly only?: ReadonlySet<string>;
  /** Events that a collector of this process wrote. */
  readonly known?: KnownEvents;
  /** Of the episodes that are kept; the oldest go first (default 256 MiB). */
  readonly maxBytes?: number;
  /** Whether an episode of the group may be asked for, now or later; others need not be kept (default: each may). */
  readonly isNeeded?: (groupId: string) => boolean;
}

/** Episodes are looked through for those that nobody needs once so much has come since, or half of what is kept, so that a long list is looked at rarely. */
const SWEPT_BYTES = 4 * 1024 * 1024;

/**
 * Stands for the content of all events of a kind. The first event of a place is kept whatever comes there later, so contents need not be
 * compared; but a step at the place of an end is no step.
 */
const CHECKSUMS: Readonly<Partial<Record<EventKind, string>>> = {
  EpisodeStarted: '1'.padEnd(32, '0'),
  StepRecorded: '2'.padEnd(32, '0'),
  EpisodeEnded: '3'.padEnd(32, '0'),
};
const OTHER_CHECKSUM = '0'.repeat(32);
const checksumOf = ({ kind }: AnyEvent): string => CHECKSUMS[kind] ?? OTHER_CHECKSUM;

/**
 * The episodes of one run as its collectors append them to the log: what the store will show of them, without a store between. Decides about each
 * record as the sink does (`admitRecord`), so what is damaged, doubled, late or contradictory counts here where it counts there.
 */
export class EpisodeTail {
  /** In the order in which their first records came. */
  private readonly episodes = new Map<string, EpisodeInLog>();
  /** Episodes that were begun here: one that was removed is never begun a second time. */
  private readonly begun = new RankWindow(-1);
  private readonly partitions: { nextOffset: number }[];
  private readonly admission: RecordAdmission;
  private readonly stopped = new AbortController();
  private readonly following: Promise<unknown>;
  private readonly maxBytes: number;
  private numBytes = 0;
  private bytesSinceSweep = 0;
  private failure: Error | null = null;
  private waiting: (() => void)[] = [];

  constructor(private readonly options: EpisodeTailOptions) {
    this.maxBytes = options.maxBytes ?? 256 * 1024 * 1024;
    this.partitions = options.from.map((nextOffset) => ({ nextOffset }));
    this.admission = {
      maxEventBytes: options.log.maxEventBytes,
      isDeleted: () => false,
      admitControl: () => 'unknownRun',
      findPlaces: (_, episodeId) => this.episodes.get(episodeId)?.places,
    };
    this.following = Promise.all(this.partitions.map((_, partition) => this.follow(partition)));
  }

  /** Bytes of the episodes that are kept, about. */
  get keptBytes(): number {
    return this.numBytes;
  }

  /**
   * The episodes, once all that the log holds now has been read; null where one of them is not whole here: it began before the tail, was removed
   * from it, or lacks an event.
   *
   * @throws LogError as following the log failed
   */
  async read(episodeIds: readonly string[], signal: AbortSignal): Promise<readonly WholeEpisode[] | null> {
    const found = this.find(episodeIds);
    if (found !== null) return found;
    await this.reachEnd(signal);
    return this.find(episodeIds);
  }

  /** Those of these episodes that are whole once all that the log holds now has been read. */
  async readAll(
    episodeIds: Iterable<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, WholeEpisode>> {
    await this.reachEnd(signal);
    if (this.failure !== null) throw this.failure;
    const found = new Map<string, WholeEpisode>();
    for (const episodeId of episodeIds) {
      const whole = this.episodes.get(episodeId)?.whole;
      if (whole) found.set(episodeId, whole);
    }
    return found;
  }

  /** Ends the following; nothing can be read afterwards. */
  async close(): Promise<void> {
    this.stopped.abort();
    await this.following;
    this.episodes.clear();
  }

  private find(episodeIds: readonly string[]): readonly WholeEpisode[] | null {
    if (this.failure !== null) throw this.failure;
    const found: WholeEpisode[] = [];
    for (const episodeId of episodeIds) {
      const whole = this.episodes.get(episodeId)?.whole ?? null;
      if (whole === null) return null;
      found.push(whole);
    }
    return found;
  }

  /** Waits until every record is read that is in the log now. */
  private async reachEnd(signal: AbortSignal): Promise<void> {
    const { log } = this.options;
    for (const [partition, progress] of this.partitions.entries()) {
      const end = await log.endOffset('trajectories', partition);
      while (progress.nextOffset < end && this.failure === null && !signal.aborted) {
        const changed = this.changed(signal);
        // Offsets at the end may hold no record.
        const next = await log.read('trajectories', partition, progress.nextOffset, { maxRecords: 1 });
        if (next.length === 0 || next[0].offset >= end) break;
        await changed;
      }
    }
  }

  private changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      signal.addEventListener('abort', wake, { once: true });
      this.waiting.push(wake);
    });
  }

  private async follow(partition: number): Promise<void> {
    const { log } = this.options;
    const progress = this.partitions[partition];
    const { signal } = this.stopped;
    try {
      for await (const records of log.follow('trajectories', partition, progress.nextOffset, { signal })) {
        for (const record of records) this.take(record);
        progress.nextOffset = records[records.length - 1].offset + 1;
        this.wake();
      }
    } catch (error) {
      this.failure ??= error instanceof Error ? error : new Error(String(error));
      this.wake();
    }
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const wake of waiting) wake();
  }

  private take(record: LogRecord): void {
    const event = this.options.known?.take(record.bytes) ?? null;
    const envelope = event ?? peekEnvelope(record.bytes);
    if (envelope?.runId !== this.options.runId) return;
    const { episodeId } = envelope;
    if (this.options.only?.has(episodeId) === false) return;
    const known = this.episodes.get(episodeId);
    // Rewards and annotations may come at any time, and are no part of what is read here.
    if (known?.whole) return;
    const episode = known ?? this.begin(episodeId);
    if (episode === null) return;
    const decode = event === null ? decodeEvent : () => ({ ok: true, event }) as const;
    const result = admitRecord(record, this.admission, checksumOf, decode);
    const before = episode.numBytes;
    if (result.kind === 'accepted') episode.take(result.event);
    this.grow(episode.numBytes - before);
    // Also where the record was refused: an episode of which none counts has been begun for it.
    this.limit();
  }

  /** Null where its first records may be known no more. */
  private begin(episodeId: string): EpisodeInLog | null {
    const { runId, keepsTexts } = this.options;
    const rank = episodeRank(runId, episodeId);
    if (rank === null || !this.begun.isNew(rank)) return null;
    this.begun.add(rank);
    const episode = new EpisodeInLog(episodeId, keepsTexts);
    this.episodes.set(episodeId, episode);
    this.grow(episode.numBytes);
    return episode;
  }

  private grow(numBytes: number): void {
    this.numBytes += numBytes;
    this.bytesSinceSweep += numBytes;
  }

  private limit(): void {
    if (this.bytesSinceSweep > Math.max(SWEPT_BYTES, this.numBytes / 2)) this.removeUnneeded();
    for (const [episodeId, episode] of this.episodes) {
      if (this.numBytes <= this.maxBytes) return;
      this.remove(episodeId, episode);
    }
  }

  private removeUnneeded(): void {
    this.bytesSinceSweep = 0;
    const { isNeeded } = this.options;
    if (isNeeded === undefined) return;
    for (const [episodeId, episode] of this.episodes)
      if (episode.groupId !== null && !isNeeded(episode.groupId)) this.remove(episodeId, episode);
  }

  private remove(episodeId: string, { numBytes }: EpisodeInLog): void {
    this.episodes.delete(episodeId);
    this.numBytes -= numBytes;
  }
}
