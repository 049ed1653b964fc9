import { randomUUID } from 'node:crypto';
import { close, existsSync, openSync, read, rmSync, statfsSync, write } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const [readAt, writeAt, closeFile] = [promisify(read), promisify(write), promisify(close)];

/** Most bytes that one system call may carry. */
const MOST_BYTES = 2 ** 30;

/** Where Linux keeps files in memory. */
const SHARED_MEMORY = '/dev/shm';

/**
 * Memory that the trainer and its workers share: a file without a name, which the kernel frees when the last of them is gone.
 * It is kept in memory (`/dev/shm`) where that has room, else in the directory for temporary files.
 */
export class ExchangeFile {
  /** @param descriptor an open file, which a child process inherits */
  constructor(readonly descriptor: number) {}

  /** @param sizeBytes what it may grow to */
  static create(sizeBytes: number): ExchangeFile {
    const path = join(
      hasRoom(SHARED_MEMORY, sizeBytes) ? SHARED_MEMORY : tmpdir(),
      `retrace-${randomUUID()}`,
    );
    const descriptor = openSync(path, 'wx+', 0o600);
    rmSync(path);
    return new ExchangeFile(descriptor);
  }

  /** Vectors end to end from a position in bytes. */
  async write(vectors: readonly Float32Array[], position: number): Promise<void> {
    let at = position;
    for (const vector of vectors) {
      const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
      for (let start = 0; start < bytes.length;) {
        const length = Math.min(MOST_BYTES, bytes.length - start);
        start += (await writeAt(this.descriptor, bytes, start, length, at + start)).bytesWritten;
      }
      at += bytes.length;
    }
  }

  /** Vectors of those lengths that `write` put there, in arrays of their own. */
  async read(lengths: readonly number[], position: number): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    let at = position;
    for (const length of lengths) {
      const vector = new Float32Array(length);
      const bytes = new Uint8Array(vector.buffer);
      for (let start = 0; start < bytes.length;) {
        const wanted = Math.min(MOST_BYTES, bytes.length - start);
        const { bytesRead } = await readAt(this.descriptor, bytes, start, wanted, at + start);
        if (bytesRead === 0) throw new Error(`the exchange file ends at byte ${at + start}`);
        start += bytesRead;
      }
      vectors.push(vector);
      at += bytes.length;
    }
    return vectors;
  }

  async close(): Promise<void> {
    await closeFile(this.descriptor);
  }
}

function hasRoom(directory: string, sizeBytes: number): boolean {
  if (!existsSync(directory)) return false;
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize > 1.1 * sizeBytes;
}
