import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { ComputeError } from '../../compute-error.js';

/** Reads a wheel, which is a ZIP archive, file by file without holding one in memory. */
export class WheelArchive {
  private constructor(
    private readonly archive: ZipFile,
    private readonly path: string,
    /** Its files, without folders. */
    readonly entries: readonly Entry[],
  ) {}

  /** @throws ComputeError `BACKEND_INSTALL_FAILED` if it is not a ZIP archive, or a path in it leads out of it. */
  static async open(path: string): Promise<WheelArchive> {
    let archive: ZipFile | null = null;
    try {
      archive = await openPromise(path, { lazyEntries: true, autoClose: false });
      const entries: Entry[] = [];
      for await (const entry of archive.eachEntry()) {
        if (!entry.fileName.endsWith('/')) entries.push(entry);
      }
      return new WheelArchive(archive, path, entries);
    } catch (error) {
      archive?.close();
      throw broken(path, error);
    }
  }

  /**
   * Writes one file, making its directory, and calls `onBytes` with the number of bytes written since the last call.
   *
   * @throws ComputeError `BACKEND_INSTALL_FAILED` if its checksum or size is not the recorded one
   */
  async extract(entry: Entry, destination: string, onBytes?: (numBytes: number) => void): Promise<void> {
    await mkdir(dirname(destination), { recursive: true });
    // yauzl compares sizes; checksums are left to its caller.
    let checksum = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        checksum = crc32(chunk, checksum);
        onBytes?.(chunk.length);
        done(null, chunk);
      },
    });
    const target = createWriteStream(destination);
    try {
      await pipeline(await this.archive.openReadStreamPromise(entry), measure, target);
    } catch (error) {
      // A failed system call is the disk's fault, not the archive's.
      throw error instanceof Error && 'syscall' in error ? error : broken(this.path, error);
    }
    if (checksum !== entry.crc32)
      throw broken(this.path, `${entry.fileName} does not have its recorded checksum`);
  }

  close(): void {
    this.archive.close();
  }
}

function broken(archive: string, why: unknown): ComputeError {
  const reason = why instanceof Error ? why.message : why;
  return new ComputeError('BACKEND_INSTALL_FAILED', `${archive} is damaged: ${reason}`, {
    retriable: true,
    ...(why instanceof Error && { cause: why }),
  });
}
