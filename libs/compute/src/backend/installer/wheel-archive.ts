import { createWriteStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import { ComputeError } from '../compute-error.js';

/** A file inside a wheel. */
export interface WheelEntry {
  readonly path: string;
  readonly sizeBytes: number;
  readonly compressedBytes: number;
  readonly crc32: number;
  readonly method: number;
  readonly headerOffset: number;
}

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const STORED = 0;
const DEFLATED = 8;
const UNKNOWN32 = 0xffffffff;

/** Reads a wheel, which is a ZIP archive (PKWARE APPNOTE 6.3), file by file without holding one in memory. */
export class WheelArchive {
  private constructor(
    private readonly handle: FileHandle,
    private readonly path: string,
    readonly entries: readonly WheelEntry[],
  ) {}

  /** @throws ComputeError `BACKEND_INSTALL_FAILED` if it is no ZIP archive, or one above 4 GiB. */
  static async open(path: string): Promise<WheelArchive> {
    const handle = await open(path, 'r');
    try {
      return new WheelArchive(handle, path, await readDirectory(handle, path));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Writes one file, making its directory, and calls `onBytes` with the number of bytes written since the last call.
   *
   * @throws ComputeError `BACKEND_INSTALL_FAILED` if its checksum or size is not the recorded one.
   */
  async extract(entry: WheelEntry, destination: string, onBytes?: (numBytes: number) => void): Promise<void> {
    await mkdir(dirname(destination), { recursive: true });
    const start = await this.dataOffset(entry);
    const source = readRange(this.handle, start, entry.compressedBytes);
    let checksum = 0;
    let sizeBytes = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        checksum = crc32(chunk, checksum);
        sizeBytes += chunk.length;
        onBytes?.(chunk.length);
        done(null, chunk);
      },
    });
    const target = createWriteStream(destination);
    if (entry.method === STORED) await pipeline(source, measure, target);
    else await pipeline(source, createInflateRaw(), measure, target);
    if (sizeBytes !== entry.sizeBytes || checksum !== entry.crc32) {
      throw broken(this.path, `${entry.path} does not have its recorded size and checksum`);
    }
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  /** The local header repeats the name and has extra fields of its own length. */
  private async dataOffset({ headerOffset, path }: WheelEntry): Promise<number> {
    const header = await readAt(this.handle, headerOffset, 30);
    if (header.length < 30 || header.readUInt32LE(0) !== LOCAL_HEADER) {
      throw broken(this.path, `${path} has no header at ${headerOffset}`);
    }
    return headerOffset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  }
}

async function readDirectory(handle: FileHandle, archive: string): Promise<WheelEntry[]> {
  const { size } = await handle.stat();
  const tail = await readAt(handle, Math.max(0, size - 65_557), 65_557);
  const end = findEnd(tail);
  if (end < 0) throw broken(archive, 'it has no ZIP directory');
  const directorySize = tail.readUInt32LE(end + 12);
  const directoryOffset = tail.readUInt32LE(end + 16);
  if (directoryOffset === UNKNOWN32) throw broken(archive, 'ZIP archives above 4 GiB are not read');
  const directory = await readAt(handle, directoryOffset, directorySize);
  const entries: WheelEntry[] = [];
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === DIRECTORY_ENTRY;) {
    const nameLength = directory.readUInt16LE(at + 28);
    const entry = {
      path: directory.toString('utf8', at + 46, at + 46 + nameLength),
      method: directory.readUInt16LE(at + 10),
      crc32: directory.readUInt32LE(at + 16),
      compressedBytes: directory.readUInt32LE(at + 20),
      sizeBytes: directory.readUInt32LE(at + 24),
      headerOffset: directory.readUInt32LE(at + 42),
    };
    if (entry.method !== STORED && entry.method !== DEFLATED) {
      throw broken(archive, `${entry.path} is compressed by method ${entry.method}; only 0 and 8 are read`);
    }
    if (entry.path.split('/').includes('..') || entry.path.startsWith('/')) {
      throw broken(archive, `the path ${entry.path} leads out of it`);
    }
    if (!entry.path.endsWith('/')) entries.push(entry);
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

function findEnd(tail: Buffer): number {
  for (let at = tail.length - 22; at >= 0; at--) if (tail.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  return -1;
}

/** A stream of the handle's own would leave a listener on it for every file. */
async function* readRange(handle: FileHandle, start: number, length: number): AsyncGenerator<Buffer> {
  for (let done = 0; done < length;) {
    const chunk = await readAt(handle, start + done, Math.min(2 ** 20, length - done));
    if (chunk.length === 0) return;
    done += chunk.length;
    yield chunk;
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
}

function broken(archive: string, why: string): ComputeError {
  return new ComputeError('BACKEND_INSTALL_FAILED', `${archive} is damaged: ${why}.`, { retriable: true });
}
