import { mkdir } from 'node:fs/promises';
import { framedBytes, MAX_RECORD_BYTES } from './frames.js';
import { Segment, type SegmentDamage } from './segment.js';
import { copyAside, currentFiles, segmentFile, setLaterAside } from './segment-file.js';
import { SpoolError } from './spool-error.js';

export interface SpoolSettings {
  /** Whether an append waits for the disk; otherwise records survive the process, not a loss of power. */
  readonly sync: boolean;
  /**
   * Decides which records opening keeps where the disk has damaged some: those before the first damage, so that an order without gaps
   * stays; or all whole ones that can be found.
   */
  readonly keeps: 'prefix' | 'whole records';
  /** Whose the records are: 36 characters. A file of another one is refused. Without it they may be anybody's. */
  readonly owner?: string;
  /** Size after which another file begins (default 16 MiB). */
  readonly segmentBytes?: number;
  /** Most bytes that wait for the disk in memory (default 128 MiB); one append always may. */
  readonly maxWaitingBytes?: number;
  /** Milliseconds since the Unix epoch (default `Date.now`). */
  readonly nowMs?: () => number;
}

/** Hears what `Spool.open` finds. */
export interface SpoolReader {
  /** Called for each record in order, with the number of its file. Its bytes are valid until it returns. */
  readonly onRecord?: (record: Buffer, segment: number) => void;
  readonly onDamage?: (damage: SegmentDamage) => void;
}

interface WaitingAppend {
  readonly records: readonly Uint8Array[];
  readonly numBytes: number;
  readonly resolve: (segment: number) => void;
  readonly reject: (error: SpoolError) => void;
}

const DEFAULT_SEGMENT_BYTES = 16 * 1024 * 1024;
const DEFAULT_MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** Appends that wait are written together up to this size. */
const MAX_GROUP_BYTES = 16 * 1024 * 1024;

/**
 * Records in files of a directory, first in, first out, until somebody else has them. One process at a time opens a directory: see
 * `FileLock`.
 *
 * Appends that come while the disk works are written together by one write, and settle in their order. Records leave in one of three
 * ways: `take` the oldest ones, `release` whole files, or `replace` all by a snapshot. Which of the oldest were taken is only known to
 * this process, so after a crash those of the oldest file come again: whoever takes them must take each once.
 */
export class Spool {
  private segments: Segment[] = [];
  private waiting: WaitingAppend[] = [];
  /** Bytes of appends that have not settled. */
  waitingBytes = 0;
  /** Bytes without a record that opening cut off. */
  numCutBytes = 0;
  private nextNumber = 1;
  private isQueued = false;
  /** Whether the next append begins a file, as a snapshot may be left that stands for all before it. */
  private beginsFile = false;
  private isClosed = false;
  /** Changes of the files, one after the other. */
  private tail: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly directory: string,
    private readonly settings: SpoolSettings,
  ) {}

  /**
   * Opens a directory, which it makes if need be, with the records that are there.
   *
   * @throws SpoolError `SPOOL_UNUSABLE`
   */
  static async open(directory: string, settings: SpoolSettings, reader: SpoolReader = {}): Promise<Spool> {
    const spool = new Spool(directory, settings);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    try {
      await spool.recover(reader);
    } catch (error) {
      await spool.close();
      throw error;
    }
    return spool;
  }

  /** Records that were not taken. */
  get numRecords(): number {
    return this.segments.reduce((sum, { numRecords }) => sum + numRecords, 0);
  }

  /** Size of the files, including records that were taken. */
  get sizeBytes(): number {
    return this.segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  /** Number of the oldest file; null without one. */
  get firstSegment(): number | null {
    return this.segments.at(0)?.number ?? null;
  }

  /**
   * Resolves with the number of the file that has the records. When it rejects, none of them is read from it; after a crash they may come
   * again where the disk, which refused them, did not let them be cut off either.
   *
   * @throws SpoolError `SPOOL_FULL`, `SPOOL_RECORD_TOO_LARGE`, `SPOOL_WRITE_FAILED`, `SPOOL_CLOSED`
   */
  append(records: readonly Uint8Array[]): Promise<number> {
    const numBytes = records.reduce((sum, { length }) => sum + framedBytes(length), 0);
    const refusal = this.refusalOf(records, numBytes);
    if (refusal !== null) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.waiting.push({ records, numBytes, resolve, reject });
      this.waitingBytes += numBytes;
      if (this.isQueued) return;
      this.isQueued = true;
      void this.exclusively(() => this.writeOut());
    });
  }

  /** The oldest records, at least one where there is any, of one file and up to `maxBytes`; they stay until `take`. */
  async peek(maxBytes: number): Promise<Uint8Array[]> {
    const first = this.segments.find(({ numRecords }) => numRecords > 0);
    return first ? first.read(maxBytes) : [];
  }

  /** Takes the oldest records out, which somebody else has. @throws SpoolError `SPOOL_CLOSED` */
  take(numRecords: number): Promise<void> {
    return this.change(async () => {
      let numLeft = numRecords;
      while (numLeft > 0 && this.segments.length > 0) {
        const [first] = this.segments;
        const numTaken = Math.min(numLeft, first.numRecords);
        first.take(numTaken);
        numLeft -= numTaken;
        if (first.numRecords > 0) return;
        this.segments.shift();
        await first.remove();
      }
    });
  }

  /** Removes the oldest files for which this is true, the one that is written now excepted. @throws SpoolError `SPOOL_CLOSED` */
  release(isDone: (segment: Pick<Segment, 'number' | 'writtenAtMs'>) => boolean): Promise<void> {
    return this.change(async () => {
      while (this.segments.length > 1 && isDone(this.segments[0])) {
        await this.segments[0].remove();
        this.segments.shift();
      }
    });
  }

  /**
   * Puts a snapshot in place of all records so far, in one step.
   *
   * @param ready is awaited first, while appends wait
   * @param snapshot returns the records in place of those in the files and of those that still wait, which it is given
   * @throws SpoolError `SPOOL_WRITE_FAILED`, `SPOOL_CLOSED`, or the error of `ready`; all records stay then
   */
  replace(
    ready: () => Promise<void>,
    snapshot: (waiting: readonly Uint8Array[]) => readonly Uint8Array[],
  ): Promise<void> {
    return this.change(async () => {
      await this.writeOut();
      await ready();
      const appends = this.waiting.splice(0);
      const segment = this.newSegment(true);
      try {
        await segment.createWhole(snapshot(appends.flatMap(({ records }) => records)));
      } catch (cause) {
        this.waiting = [...appends, ...this.waiting];
        this.beginsFile ||= segment.mayBeLeft;
        throw writeFailed(cause);
      }
      const replaced = this.segments;
      this.segments = [segment];
      this.settle(appends, ({ resolve }) => resolve(segment.number));
      for (const each of replaced.reverse()) await each.remove();
    });
  }

  /** Resolves when all appends have settled; records stay for the next process. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.exclusively(async () => {
      await Promise.all(this.segments.map((segment) => segment.close()));
    });
  }

  private refusalOf(records: readonly Uint8Array[], numBytes: number): SpoolError | null {
    const { maxWaitingBytes = DEFAULT_MAX_WAITING_BYTES } = this.settings;
    if (this.isClosed) return this.closedError();
    const tooLarge = records.find(({ length }) => length > MAX_RECORD_BYTES);
    if (tooLarge) {
      const message = `a record has ${tooLarge.length} bytes; must have at most ${MAX_RECORD_BYTES}`;
      return new SpoolError('SPOOL_RECORD_TOO_LARGE', message);
    }
    if (this.waitingBytes === 0 || this.waitingBytes + numBytes <= maxWaitingBytes) return null;
    const message = `${this.waitingBytes} of ${maxWaitingBytes} bytes wait for the disk`;
    return new SpoolError('SPOOL_FULL', message);
  }

  private closedError(): SpoolError {
    return new SpoolError('SPOOL_CLOSED', `spool ${this.directory} is closed`);
  }

  private async recover({ onRecord = () => undefined, onDamage }: SpoolReader): Promise<void> {
    const { directory, settings } = this;
    for (const file of await currentFiles(directory)) {
      const segment = new Segment(file, settings.owner);
      const damages = await segment.recover((record) => {
        onRecord(record, file.number);
      }, settings.keeps === 'whole records');
      this.segments.push(segment);
      this.nextNumber = file.number + 1;
      for (const damage of damages) onDamage?.(damage);
      const end = damages.find(({ isEnd }) => isEnd);
      if (end === undefined) continue;
      this.numCutBytes += end.numBytes;
      if (end.mayHaveRecords) await copyAside(directory, file.path);
      // Later files go first, so that a crash here leaves no gap.
      if (settings.keeps === 'prefix') this.numCutBytes += await setLaterAside(directory, file.number);
      await segment.cut();
      if (settings.keeps === 'prefix') break;
    }
    const empty = this.segments.filter(({ numRecords }) => numRecords === 0);
    this.segments = this.segments.filter(({ numRecords }) => numRecords > 0);
    for (const segment of empty) await segment.remove();
  }

  private async writeOut(): Promise<void> {
    this.isQueued = false;
    while (this.waiting.length > 0) {
      const appends = this.takeGroup();
      try {
        const segment = await this.segmentToWrite();
        await segment.append(
          appends.flatMap(({ records }) => records),
          this.settings.sync,
        );
        segment.writtenAtMs = (this.settings.nowMs ?? Date.now)();
        this.settle(appends, ({ resolve }) => resolve(segment.number));
      } catch (cause) {
        const error = writeFailed(cause);
        this.settle(appends, ({ reject }) => reject(error));
      }
    }
  }

  private takeGroup(): readonly WaitingAppend[] {
    let numBytes = 0;
    const end = this.waiting.findIndex((append) => (numBytes += append.numBytes) > MAX_GROUP_BYTES);
    return this.waiting.splice(0, end < 0 ? this.waiting.length : Math.max(1, end));
  }

  private settle(appends: readonly WaitingAppend[], end: (append: WaitingAppend) => void): void {
    for (const append of appends) {
      this.waitingBytes -= append.numBytes;
      end(append);
    }
  }

  private async segmentToWrite(): Promise<Segment> {
    const { segmentBytes = DEFAULT_SEGMENT_BYTES } = this.settings;
    const last = this.segments.at(-1);
    if (last && last.sizeBytes < segmentBytes && !this.beginsFile) return last;
    await last?.close();
    const segment = this.newSegment(false);
    this.beginsFile = false;
    this.segments.push(segment);
    return segment;
  }

  private newSegment(isSnapshot: boolean): Segment {
    return new Segment(segmentFile(this.directory, this.nextNumber++, isSnapshot), this.settings.owner);
  }

  private change<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.isClosed ? Promise.reject(this.closedError()) : this.exclusively(work);
  }

  private exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.tail.then(work);
    this.tail = done.catch(() => undefined);
    return done;
  }
}

function writeFailed(cause: unknown): SpoolError {
  const message = cause instanceof Error ? cause.message : `${cause as string}`;
  return new SpoolError('SPOOL_WRITE_FAILED', message, { cause });
}
