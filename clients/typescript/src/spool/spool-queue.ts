import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { countWithin, lineBytes, type ReadLimits, type RecordQueue } from '../sender/record-queue.js';
import { describeReason, RetraceError } from '../wire/retrace-error.js';
import { SpoolOwner } from './spool-owner.js';
import { SpoolSegment } from './spool-segment.js';
import type { SpoolOptions } from './spool-options.js';

const SEGMENT_NAME = /^([0-9a-f]{12})-\d+\.ndjson$/;

/**
 * Lines in files of a directory: each is written as soon as the event loop is free, and sent from there, so that it outlives the
 * process. Files of processes that have ended are taken over, by exactly one process each: renaming a file decides whose it is.
 *
 * While the disk fails, lines stay in memory up to a limit, and are sent from there.
 */
export class SpoolQueue implements RecordQueue {
  /** Why the last lines could not be written, and wait in memory only; null when they were. */
  failure: string | null = null;
  /** Oldest first; the last one is written to, unless it is closed for writing. */
  private segments: SpoolSegment[] = [];
  private unwritten: string[] = [];
  private unwrittenBytes = 0;
  private numSegments = 0;
  private writable: SpoolSegment | null = null;
  /** Lines that the last `peek` returned. */
  private peeked: readonly string[] = [];
  private owner: SpoolOwner | null = null;
  /** File operations run one after the other. */
  private tail: Promise<unknown>;
  private writeIsQueued = false;

  constructor(
    private readonly options: SpoolOptions,
    private readonly onError: (error: RetraceError) => void,
  ) {
    this.tail = this.open().catch((error: unknown) => {
      this.report('opening the spool', error);
    });
  }

  get numLines(): number {
    return this.segments.reduce((sum, { numLines }) => sum + numLines, this.unwritten.length);
  }

  get numBytes(): number {
    return this.segments.reduce((sum, { pendingBytes }) => sum + pendingBytes, this.unwrittenBytes);
  }

  append(line: string): boolean {
    const { maxBytes = 1024 ** 3, maxMemoryBytes = 16 * 1024 ** 2 } = this.options;
    const size = lineBytes(line);
    if (this.unwrittenBytes + size > maxMemoryBytes || this.numBytes + size > maxBytes) return false;
    this.unwritten.push(line);
    this.unwrittenBytes += size;
    if (!this.writeIsQueued) {
      this.writeIsQueued = true;
      void this.exclusively(() => this.writeOut());
    }
    return true;
  }

  peek(limits: ReadLimits): Promise<readonly string[]> {
    return this.exclusively(async () => {
      await this.writeOut();
      this.peeked = await this.oldestLines(limits);
      return this.peeked;
    });
  }

  take(numLines: number): Promise<void> {
    return this.exclusively(async () => {
      const lines = this.peeked.slice(0, numLines);
      this.peeked = this.peeked.slice(numLines);
      const [first] = this.segments;
      if (first === undefined || first.pendingBytes === 0) {
        this.dropUnwritten(lines.length);
        return;
      }
      first.take(lines);
      if (first.pendingBytes > 0) return;
      if (first === this.writable) await first.clear();
      else await this.segments.shift()?.remove();
    });
  }

  adopt(): Promise<void> {
    return this.exclusively(async () => {
      try {
        if (this.owner === null) await this.open();
        else await this.takeOver(this.owner);
      } catch (error) {
        this.report('looking for files of earlier processes', error);
      }
    });
  }

  /** Waits until all lines so far are in files, or the disk has failed. @returns whether all of them are */
  written(): Promise<boolean> {
    return this.exclusively(() => this.writeOut());
  }

  async close(): Promise<void> {
    await this.exclusively(async () => {
      await this.writeOut();
      for (const segment of this.segments) {
        await (segment.pendingBytes === 0 ? segment.remove() : segment.close());
      }
      this.segments = [];
      this.writable = null;
      await this.owner?.release();
      this.owner = null;
    });
  }

  private async open(): Promise<void> {
    const owner = await SpoolOwner.claim(this.options.directory);
    this.owner = owner;
    await this.takeOver(owner);
  }

  private async takeOver(owner: SpoolOwner): Promise<void> {
    const names = (await readdir(owner.directory)).sort();
    const living = new Map<string, boolean>();
    for (const name of names) {
      const other = SEGMENT_NAME.exec(name)?.[1];
      if (other === undefined) continue;
      if (!living.has(other)) living.set(other, await owner.isAlive(other));
      if (living.get(other)) continue;
      const path = this.nextPath(owner);
      if (!(await renamed(join(owner.directory, name), path))) continue;
      const segment = await SpoolSegment.recover(path);
      if (segment.numLines === 0) await segment.remove();
      else this.insert(segment);
    }
    for (const [other, lives] of living) if (!lives) await owner.forget(other);
  }

  /** Puts a segment that is only read before the one that is written to; one that is being read stays the first. */
  private insert(segment: SpoolSegment): void {
    const at = this.writable === null ? this.segments.length : this.segments.length - 1;
    if (at === 0 && (this.segments[0]?.headAt ?? 0) > 0) {
      this.writable = null;
      this.segments.push(segment);
    } else this.segments.splice(at, 0, segment);
  }

  /** Leaves the lines in memory when the disk fails; the next call tries again. @returns whether the lines so far are in files */
  private async writeOut(): Promise<boolean> {
    this.writeIsQueued = false;
    if (this.unwritten.length === 0) return true;
    try {
      const segment = await this.segmentToWrite();
      const lines = [...this.unwritten];
      await segment.append(lines, this.options.fsync ?? false);
      // Lines may have been appended meanwhile.
      this.dropUnwritten(lines.length);
      this.failure = null;
      return true;
    } catch (error) {
      // Its end may hold a part of a line.
      this.writable = null;
      this.failure = describeReason(error);
      this.report('writing the spool', error);
      return false;
    }
  }

  private async segmentToWrite(): Promise<SpoolSegment> {
    const { segmentBytes = 8 * 1024 ** 2 } = this.options;
    if (this.writable && this.writable.sizeBytes < segmentBytes) return this.writable;
    if (this.owner === null) await this.open();
    if (this.owner === null) throw new Error('the spool is not open');
    this.writable = await SpoolSegment.create(this.nextPath(this.owner));
    this.segments.push(this.writable);
    return this.writable;
  }

  private async oldestLines(limits: ReadLimits): Promise<readonly string[]> {
    while (this.segments.length > 0 && this.segments[0].pendingBytes === 0) {
      if (this.segments[0] === this.writable) break;
      await this.segments.shift()?.remove();
    }
    const [first] = this.segments;
    if (first !== undefined && first.pendingBytes > 0) return first.read(limits.maxLines, limits.maxBytes);
    return this.unwritten.slice(0, countWithin(this.unwritten, limits));
  }

  private dropUnwritten(numLines: number): void {
    for (const line of this.unwritten.splice(0, numLines)) this.unwrittenBytes -= lineBytes(line);
  }

  private nextPath(owner: SpoolOwner): string {
    return join(owner.directory, `${owner.id}-${`${this.numSegments++}`.padStart(6, '0')}.ndjson`);
  }

  private exclusively<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.tail.then(work);
    this.tail = done.catch(() => undefined);
    return done;
  }

  private report(doing: string, cause: unknown): void {
    this.onError(
      new RetraceError('SPOOL_FAILED', `${doing} in ${this.options.directory}: ${describeReason(cause)}`, {
        cause,
      }),
    );
  }
}

/** @returns false when another process has renamed the file first */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
