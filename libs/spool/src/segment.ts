import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileWindow, syncDirectory, writeAll } from './files.js';
import {
  framedBytes,
  isTornFrame,
  recordAt,
  recordIn,
  searchFrame,
  writeFrame,
  type ReadAt,
} from './frames.js';
import type { SegmentFile } from './segment-file.js';
import { SpoolError } from './spool-error.js';

/** The file: `R T S P O O L 1` (8 bytes), whose the records are, as text (36 bytes), then frames. */
const MAGIC = 'RTSPOOL1';
/** Stands in files whose records may be anybody's. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Bytes of a file that hold no record. */
export interface SegmentDamage {
  readonly path: string;
  readonly at: number;
  readonly numBytes: number;
  /** Whether it is all that follows; otherwise whole records do. */
  readonly isEnd: boolean;
  /** Whether it can be one record that was not written to its end. */
  readonly isTornRecord: boolean;
  /** Whether records that were written whole may be in it. */
  readonly mayHaveRecords: boolean;
}

/** One file of a spool: appended at its end, read from its beginning, and removed as a whole. */
export class Segment {
  /** Where each record's frame begins that was not taken. */
  private starts: number[] = [];
  private numTaken = 0;
  /** Where the next frame is written; 0 until the file has its header. */
  private endAt = 0;
  private handle: FileHandle | null = null;
  /** Whether bytes behind `endAt` may be left of a write that failed. */
  private hasRest = false;
  /** Whether a snapshot that failed may still be there after a loss of power. */
  mayBeLeft = false;
  /** Milliseconds since the Unix epoch. */
  writtenAtMs = 0;

  constructor(
    private readonly file: SegmentFile,
    private readonly owner = NOBODY,
  ) {}

  get number(): number {
    return this.file.number;
  }

  get numRecords(): number {
    return this.starts.length - this.numTaken;
  }

  get sizeBytes(): number {
    return this.endAt;
  }

  /**
   * Finds the records of the file, and leaves it as it is.
   *
   * @param onRecord its bytes are valid until it returns
   * @returns damage in the order of the file; of what `isEnd` is true for, nothing is read
   * @throws SpoolError `SPOOL_UNUSABLE` when it is no segment, or has records of another owner
   */
  async recover(onRecord: (record: Buffer) => void, mayLeaveOut: boolean): Promise<readonly SegmentDamage[]> {
    const { path } = this.file;
    const handle = await open(path, 'r');
    try {
      const { size, mtimeMs } = await handle.stat();
      this.writtenAtMs = mtimeMs;
      const window = new FileWindow(handle, size);
      const read = async (at: number, length: number) => (await window.read(at, length)) ?? fail(path);
      const header = (await read(0, Math.min(size, makeHeader(this.owner).length))).toString('latin1');
      const search = { size, read, onRecord, mayLeaveOut };
      return await (this.isHeader(header) ? this.findFrames(search) : this.withoutHeader(search));
    } finally {
      await handle.close();
    }
  }

  /** Cuts off what follows the last record. */
  async cut(): Promise<void> {
    const handle = await open(this.file.path, 'r+');
    try {
      await handle.truncate(this.endAt);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }

  /**
   * Resolves when the file has the records, and so has the disk with `sync`. When it rejects, they are not read; where the disk does not
   * let them be cut off either, they may come again to the next process.
   */
  async append(records: readonly Uint8Array[], sync: boolean): Promise<void> {
    const { path } = this.file;
    const isNew = this.endAt === 0;
    this.handle ??= await open(path, isNew ? 'w+' : 'r+', 0o600);
    if (this.hasRest) await this.handle.truncate(this.endAt);
    const bytes = encodeFrames(records, isNew ? makeHeader(this.owner) : '');
    this.hasRest = true;
    try {
      await writeAll(this.handle, bytes, this.endAt);
      if (sync) {
        await this.handle.datasync();
        if (isNew) await syncDirectory(dirname(path));
      }
    } catch (error) {
      await this.handle.truncate(this.endAt).catch(() => undefined);
      throw error;
    }
    this.hasRest = false;
    this.addStarts(isNew ? makeHeader(this.owner).length : this.endAt, records);
  }

  /** Makes the file with these records and no others, in one step, and waits for the disk. */
  async createWhole(records: readonly Uint8Array[]): Promise<void> {
    const { path } = this.file;
    const handle = await open(`${path}.new`, 'w+', 0o600);
    try {
      await writeAll(handle, encodeFrames(records, makeHeader(this.owner)), 0);
      await handle.datasync();
      await rename(`${path}.new`, path);
      await syncDirectory(dirname(path));
    } catch (error) {
      await handle.close();
      await rm(`${path}.new`, { force: true }).catch(() => undefined);
      // Under its name, it would stand for the files that go on.
      this.mayBeLeft = !(await isRemoved(path));
      throw error;
    }
    this.handle = handle;
    this.addStarts(makeHeader(this.owner).length, records);
  }

  /** The oldest records that were not taken, at least one and as many as fit into `maxBytes`. */
  async read(maxBytes: number): Promise<Uint8Array[]> {
    const from = this.starts[this.numTaken];
    let last = this.numTaken;
    while (last + 1 < this.starts.length && this.endOf(last + 1) - from <= maxBytes) last++;
    const bytes = await this.bytesBetween(from, this.endOf(last));
    return this.starts.slice(this.numTaken, last + 1).map((start) => {
      const at = start - from;
      const end = at + framedBytes(bytes.readUInt32LE(at));
      const record = end <= bytes.length ? recordIn(bytes.subarray(at, end)) : null;
      return record ?? fail(this.file.path, 'a record changed on disk');
    });
  }

  take(numRecords: number): void {
    this.numTaken += numRecords;
  }

  async close(): Promise<void> {
    const { handle } = this;
    this.handle = null;
    if (handle !== null && this.hasRest) {
      await handle
        .truncate(this.endAt)
        .then(() => handle.datasync())
        .catch(() => undefined);
    }
    await handle?.close();
  }

  async remove(): Promise<void> {
    await this.close();
    await rm(this.file.path, { force: true });
  }

  /** Whether a file begins as it must; false when it is shorter, or was never written. */
  private isHeader(found: string): boolean {
    const wanted = makeHeader(this.owner);
    if (found === wanted) return true;
    if (wanted.startsWith(found) || /^\0*$/.test(found)) return false;
    const whose = found.slice(MAGIC.length);
    const reason =
      found.startsWith(MAGIC) && whose.length === NOBODY.length
        ? `has records of ${whose}, and this is ${this.owner}: connect to that one, or delete the file`
        : 'is not a spool file';
    throw new SpoolError('SPOOL_UNUSABLE', `spool ${this.file.path}: ${reason}`);
  }

  private async findFrames({ size, read, onRecord, mayLeaveOut }: Search): Promise<SegmentDamage[]> {
    const { path } = this.file;
    const damages: SegmentDamage[] = [];
    let at = makeHeader(this.owner).length;
    this.endAt = at;
    while (at < size) {
      const record = await recordAt(at, size, read);
      if (record !== null) {
        this.starts.push(at);
        at += framedBytes(record.length);
        this.endAt = at;
        onRecord(record);
        continue;
      }
      const found = await searchFrame(at + 1, size, read);
      const next = mayLeaveOut && found.kind === 'found' ? found.at : size;
      damages.push({
        path,
        at,
        numBytes: next - at,
        isEnd: next === size,
        isTornRecord: found.kind === 'none' && (await isTornFrame(at, size, read)),
        mayHaveRecords: next === size && found.kind !== 'none',
      });
      at = next;
    }
    return damages;
  }

  /** The damage of a file whose first bytes were never written; its records may be anybody's. */
  private async withoutHeader({ size, read }: Search): Promise<SegmentDamage[]> {
    const { length } = makeHeader(this.owner);
    const { kind } = await searchFrame(length, size, read);
    return [
      {
        path: this.file.path,
        at: 0,
        numBytes: size,
        isEnd: true,
        isTornRecord: size <= length,
        mayHaveRecords: kind !== 'none',
      },
    ];
  }

  private addStarts(from: number, records: readonly Uint8Array[]): void {
    this.endAt = from;
    for (const record of records) {
      this.starts.push(this.endAt);
      this.endAt += framedBytes(record.length);
    }
  }

  /** Where the frame of a record ends, damage behind it included. */
  private endOf(record: number): number {
    return record + 1 < this.starts.length ? this.starts[record + 1] : this.endAt;
  }

  private async bytesBetween(from: number, to: number): Promise<Buffer> {
    const { path } = this.file;
    const handle = await open(path, 'r');
    try {
      return (await new FileWindow(handle, to).read(from, to - from)) ?? fail(path);
    } finally {
      await handle.close();
    }
  }
}

interface Search {
  /** Bytes of the file. */
  readonly size: number;
  readonly read: ReadAt;
  readonly onRecord: (record: Buffer) => void;
  /** Whether a damaged record that a whole one follows is left out; otherwise nothing behind damage is read. */
  readonly mayLeaveOut: boolean;
}

/** Removes a file, and waits for the disk; returns whether that is sure. */
async function isRemoved(path: string): Promise<boolean> {
  try {
    await rm(path, { force: true });
    await syncDirectory(dirname(path));
    return true;
  } catch {
    return false;
  }
}

function makeHeader(owner: string): string {
  return MAGIC + owner;
}

function encodeFrames(records: readonly Uint8Array[], header: string): Buffer {
  const numBytes = records.reduce((sum, { length }) => sum + framedBytes(length), header.length);
  const bytes = Buffer.allocUnsafe(numBytes);
  let at = bytes.write(header, 'latin1');
  for (const record of records) at = writeFrame(bytes, at, record);
  return bytes;
}

function fail(path: string, reason = 'the file became shorter'): never {
  throw new SpoolError('SPOOL_DAMAGED', `spool ${path}: ${reason} since it was opened`);
}
