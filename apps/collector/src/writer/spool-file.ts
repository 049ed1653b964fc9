import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { CollectorError } from '../collector-error.js';

/**
 * The file: `R T S P O O L 1` (8 bytes), the log's id as text (36 bytes), then records, each as its length (uint32, little-endian),
 * CRC-32 of length and bytes (uint32, little-endian), bytes.
 */
const MAGIC = 'RTSPOOL1';
const LOG_ID_BYTES = 36;
const FILE_HEADER_BYTES = MAGIC.length + LOG_ID_BYTES;
const RECORD_HEADER_BYTES = 8;
/** More than any record of a log; a greater length is damage. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** Size in the file of a record of `recordBytes` bytes. */
export function spooledBytes(recordBytes: number): number {
  return RECORD_HEADER_BYTES + recordBytes;
}

/**
 * Unacknowledged records of one partition on local disk, first in, first out. They survive the process. How many were taken out is not
 * stored until all were, so after a crash some come again.
 */
export class SpoolFile {
  private readonly sizes: number[] = [];
  private numTaken = 0;
  /** Positions of the first record and of the next one to write. */
  private headAt = FILE_HEADER_BYTES;
  private endAt = FILE_HEADER_BYTES;
  /** Bytes that were cut off the end of the file when it was opened, as they formed no whole record. */
  numCutBytes = 0;

  private constructor(private readonly file: FileHandle) {}

  /**
   * Opens or creates the file, and cuts it off at the first damaged or incomplete record: a prefix of what was written stays.
   *
   * @throws CollectorError `SPOOL_UNUSABLE` when it is not a spool file, or holds records of another log
   */
  static async open(path: string, logId: string): Promise<SpoolFile> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, 'a+', 0o600);
    await file.close();
    const spool = new SpoolFile(await open(path, 'r+'));
    try {
      await spool.recover(path, logId);
    } catch (error) {
      await spool.close();
      throw error;
    }
    return spool;
  }

  get numRecords(): number {
    return this.sizes.length - this.numTaken;
  }

  /** Size of the file on disk, including records that were taken out. */
  get sizeBytes(): number {
    return this.endAt;
  }

  /** Resolves when the records are on disk; when it rejects, none of them is in the spool. */
  async append(records: readonly Uint8Array[]): Promise<void> {
    const parts = records.flatMap((record) => [recordHeader(record), record]);
    const written = Buffer.concat(parts);
    try {
      let numWritten = 0;
      while (numWritten < written.length) {
        const rest = written.length - numWritten;
        const { bytesWritten } = await this.file.write(written, numWritten, rest, this.endAt + numWritten);
        numWritten += bytesWritten;
      }
      await this.file.datasync();
    } catch (error) {
      await this.file.truncate(this.endAt).catch(() => undefined);
      throw error;
    }
    this.endAt += written.length;
    for (const record of records) this.sizes.push(record.length);
  }

  /** The oldest records, at least one and as many as fit into `maxBytes`; they stay until `take`. */
  async peek(maxBytes: number): Promise<Uint8Array[]> {
    let end = this.numTaken;
    let numBytes = 0;
    let length = 0;
    while (end < this.sizes.length && (end === this.numTaken || numBytes + this.sizes[end] <= maxBytes)) {
      numBytes += this.sizes[end];
      length += spooledBytes(this.sizes[end++]);
    }
    const bytes = await this.read(this.headAt, length);
    const records: Uint8Array[] = [];
    for (let at = 0; at < bytes.length;) {
      const record = recordAt(bytes, at);
      if (!record)
        throw new CollectorError('SPOOL_UNUSABLE', 'a record changed on disk since it was spooled');
      records.push(record);
      at += spooledBytes(record.length);
    }
    return records;
  }

  /** Takes the oldest records out: the log has acknowledged them. */
  async take(numRecords: number): Promise<void> {
    for (let i = 0; i < numRecords; i++) this.headAt += spooledBytes(this.sizes[this.numTaken++]);
    if (this.numTaken < this.sizes.length) return;
    this.sizes.length = 0;
    this.numTaken = 0;
    this.headAt = this.endAt = FILE_HEADER_BYTES;
    await this.file.truncate(FILE_HEADER_BYTES);
    await this.file.datasync();
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private async recover(path: string, logId: string): Promise<void> {
    const { size } = await this.file.stat();
    const header = (await this.read(0, Math.min(size, FILE_HEADER_BYTES))).toString('latin1');
    if (header.length < FILE_HEADER_BYTES) {
      if (!(MAGIC + logId).startsWith(header)) throw unusable(path, 'is not a spool file');
      await this.file.write(MAGIC + logId, 0, 'latin1');
      await this.file.datasync();
      return;
    }
    if (!header.startsWith(MAGIC)) throw unusable(path, 'is not a spool file');
    const spooledFor = header.slice(MAGIC.length);
    if (spooledFor !== logId) {
      throw unusable(
        path,
        `holds records of log ${spooledFor}, and this log is ${logId}: connect to that one, or delete the file`,
      );
    }
    while (this.endAt < size) {
      const length = await this.recordLengthAt(this.endAt, size);
      if (length === null) break;
      this.sizes.push(length);
      this.endAt += spooledBytes(length);
    }
    this.numCutBytes = size - this.endAt;
    if (this.numCutBytes > 0) {
      await this.file.truncate(this.endAt);
      await this.file.datasync();
    }
  }

  private async recordLengthAt(at: number, fileBytes: number): Promise<number | null> {
    if (at + RECORD_HEADER_BYTES > fileBytes) return null;
    const length = (await this.read(at, RECORD_HEADER_BYTES)).readUInt32LE(0);
    if (length > MAX_RECORD_BYTES || at + spooledBytes(length) > fileBytes) return null;
    return recordAt(await this.read(at, spooledBytes(length)), 0) && length;
  }

  private async read(at: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    let numRead = 0;
    while (numRead < length) {
      const { bytesRead } = await this.file.read(bytes, numRead, length - numRead, at + numRead);
      if (bytesRead === 0) throw new CollectorError('SPOOL_UNUSABLE', 'the spool file became shorter');
      numRead += bytesRead;
    }
    return bytes;
  }
}

function recordHeader(record: Uint8Array): Buffer {
  const header = Buffer.allocUnsafe(RECORD_HEADER_BYTES);
  header.writeUInt32LE(record.length, 0);
  header.writeUInt32LE(checksumOf(header.subarray(0, 4), record), 4);
  return header;
}

/** The record that begins at `at`, or null when it is damaged. */
function recordAt(bytes: Buffer, at: number): Uint8Array | null {
  if (at + RECORD_HEADER_BYTES > bytes.length) return null;
  const length = bytes.readUInt32LE(at);
  const start = at + RECORD_HEADER_BYTES;
  if (start + length > bytes.length) return null;
  const record = bytes.subarray(start, start + length);
  return checksumOf(bytes.subarray(at, at + 4), record) === bytes.readUInt32LE(at + 4) ? record : null;
}

function checksumOf(length: Uint8Array, record: Uint8Array): number {
  return crc32(record, crc32(length));
}

function unusable(path: string, reason: string): CollectorError {
  return new CollectorError('SPOOL_UNUSABLE', `spool ${path}: ${reason}`);
}
