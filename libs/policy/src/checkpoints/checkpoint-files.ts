import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PolicyError } from '../policy-error.js';
import { openRegularFile } from './open-regular-file.js';
import { SafetensorsFile } from './safetensors-file.js';

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Names the content of a file. */
export interface FileRef {
  /** Hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A file whose content is written, but perhaps not durable yet. */
export interface WrittenFile extends FileRef {
  /** The temporary name that the file has until it is durable. */
  readonly name: string;
}

const SUFFIX = '.safetensors';
const PARTIAL_SUFFIX = '.partial';
const PARTIAL_NAME = /^[0-9a-f-]{36}\.partial$/;

/** Bytes that are read at once when a file is verified. */
const PIECE_BYTES = 4 * 2 ** 20;

/** Pieces smaller than this are written together. */
const GATHERED_BYTES = 2 ** 20;

/** Age at which the unfinished file of a writer that died is removed. */
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Immutable files in one directory, named by the SHA-256 of their content. Several processes may write and read.
 * A file is complete or absent: it is written under a temporary name, synced and renamed, and its directory is synced.
 */
export class CheckpointFiles {
  constructor(protected readonly directory: string) {}

  /**
   * Resolves when the content is durable. Content in pieces is held one piece at a time, or 1 MiB of small pieces. Writing
   * a file that exists changes nothing for its readers; a corrupt file is replaced.
   *
   * @param onWritten called once all of the content is written, for readers that need not wait until it is durable (`openWritten`). Where files
   *   are elsewhere, it is not called
   * @throws PolicyError `CHECKPOINT_NOT_WRITTEN`, retriable, when the disk refuses, and as the source of the pieces does; the unfinished file is removed
   */
  async write(
    content: Uint8Array | AsyncIterable<Uint8Array>,
    onWritten?: (file: WrittenFile) => void,
  ): Promise<FileRef> {
    const name = `${randomUUID()}${PARTIAL_SUFFIX}`;
    const partial = join(this.directory, name);
    const source = content instanceof Uint8Array ? [content] : content;
    try {
      await mkdir(this.directory, { recursive: true });
      await this.removeAbandoned();
      const ref = await writeSynced(partial, source, (written) => onWritten?.({ ...written, name }));
      await rename(partial, this.pathOf(ref.sha256));
      await syncDirectory(this.directory);
      return ref;
    } catch (cause) {
      await rm(partial, { force: true }).catch(() => undefined);
      if (cause instanceof PolicyError) throw cause;
      const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
      throw new PolicyError(
        'CHECKPOINT_NOT_WRITTEN',
        `a checkpoint file could not be written (${reason}); free disk space or fix the permissions of the checkpoint directory`,
        { cause, retriable: true },
      );
    }
  }

  /**
   * Reads the whole content into memory and verifies it.
   *
   * @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`
   */
  async read(ref: FileRef): Promise<Uint8Array> {
    const file = await this.openRegular(ref);
    let bytes: Uint8Array;
    try {
      bytes = await file.readFile();
    } finally {
      await file.close();
    }
    requireContent(ref, {
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    return bytes;
  }

  /**
   * Verifies the content, reading it in pieces.
   *
   * @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`
   */
  async verify(ref: FileRef): Promise<void> {
    const file = await this.openRegular(ref);
    // The stream closes the file.
    const pieces = file.createReadStream({ highWaterMark: PIECE_BYTES }) as AsyncIterable<Buffer>;
    requireContent(ref, await nameContent(pieces));
  }

  /**
   * Verifies a file and opens it to read its tensors one at a time; the caller closes it.
   *
   * @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`, `INVALID_FILE`
   */
  async open(ref: FileRef): Promise<SafetensorsFile> {
    await this.verify(ref);
    return SafetensorsFile.open(this.pathOf(ref.sha256));
  }

  /**
   * As `open`, for a file that may not be durable yet.
   *
   * @throws PolicyError as `open` does
   */
  async openWritten({ name, sha256, sizeBytes }: WrittenFile): Promise<SafetensorsFile> {
    const ref = { sha256, sizeBytes };
    if (!PARTIAL_NAME.test(name)) return this.open(ref);
    const path = join(this.directory, name);
    try {
      const file = await open(path, 'r');
      requireContent(ref, await nameContent(file.createReadStream({ highWaterMark: PIECE_BYTES })));
      return await SafetensorsFile.open(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'FILE_MISSING') throw error;
      // It has got its own name since.
      return this.open(ref);
    }
  }

  /**
   * Verifies a file and returns its path on this machine, for another process that reads it; it stays there as long as nobody removes it.
   *
   * @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`
   */
  async locate(ref: FileRef): Promise<string> {
    await this.verify(ref);
    return this.pathOf(ref.sha256);
  }

  /** Removes a file; one that does not exist is no error. */
  async remove(sha256: string): Promise<void> {
    await rm(this.pathOf(sha256), { force: true });
  }

  /** Lists all complete files by hash, with their sizes on disk; contents are not verified. */
  async list(): Promise<FileRef[]> {
    const hashes = (await this.names()).sort().map(hashOfName);
    return Promise.all(
      hashes
        .filter((sha256) => sha256 !== null)
        .map(async (sha256) => ({
          sha256,
          sizeBytes: (await stat(join(this.directory, fileNameOf(sha256)))).size,
        })),
    );
  }

  private async openRegular(ref: FileRef): Promise<FileHandle> {
    const file = await openRegularFile(this.pathOf(ref.sha256)).catch(refuseMissing(ref));
    if (file !== null) return file;
    const message = `checkpoint file ${ref.sha256} is no regular file; restore it from a backup`;
    throw new PolicyError('CHECKPOINT_CORRUPT', message);
  }

  private async removeAbandoned(): Promise<void> {
    for (const name of (await this.names()).filter((name) => name.endsWith(PARTIAL_SUFFIX))) {
      const path = join(this.directory, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
      if (Date.now() - mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
    }
  }

  private async names(): Promise<string[]> {
    return readdir(this.directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  }

  protected pathOf(sha256: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256)) {
      throw new PolicyError('INVALID_REQUEST', `${JSON.stringify(sha256)} is not a SHA-256 in hex`);
    }
    return join(this.directory, fileNameOf(sha256));
  }
}

/** The name of a checkpoint file, on disk and in object storage. */
export function fileNameOf(sha256: string): string {
  return `${sha256}${SUFFIX}`;
}

/** The hash in the name of a checkpoint file; null for another name. */
export function hashOfName(name: string): string | null {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : null;
}

/** The name that `CheckpointFiles.write` would store this content under; nothing is stored. */
export async function nameContent(pieces: Pieces): Promise<FileRef> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    sizeBytes += piece.length;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

async function writeSynced(
  path: string,
  pieces: Pieces,
  onWritten: (ref: FileRef) => void,
): Promise<FileRef> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const piece of gathered(pieces)) {
      hash.update(piece);
      sizeBytes += piece.length;
      yield piece;
    }
  }
  const file = await open(path, 'wx');
  try {
    await writeFile(file, hashed());
    const ref = { sha256: hash.digest('hex'), sizeBytes };
    onWritten(ref);
    await file.sync();
    return ref;
  } finally {
    await file.close();
  }
}

/** Joins small neighbours into one piece, because a small model has many tensors and each write takes time. */
async function* gathered(pieces: Pieces): AsyncGenerator<Uint8Array> {
  const small = Buffer.allocUnsafe(GATHERED_BYTES);
  let length = 0;
  for await (const piece of pieces) {
    if (length > 0 && length + piece.length > GATHERED_BYTES) {
      yield small.subarray(0, length);
      length = 0;
    }
    if (piece.length >= GATHERED_BYTES) yield piece;
    else {
      small.set(piece, length);
      length += piece.length;
    }
  }
  if (length > 0) yield small.subarray(0, length);
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function refuseMissing({ sha256 }: FileRef): (cause: NodeJS.ErrnoException) => never {
  return (cause) => {
    if (cause.code !== 'ENOENT') throw cause;
    throw new PolicyError('CHECKPOINT_MISSING', `checkpoint file ${sha256} does not exist`, { cause });
  };
}

/** @throws PolicyError `CHECKPOINT_CORRUPT` where the content that was found is another */
export function requireContent(ref: FileRef, found: FileRef): void {
  if (found.sizeBytes === ref.sizeBytes && found.sha256 === ref.sha256) return;
  throw new PolicyError(
    'CHECKPOINT_CORRUPT',
    `checkpoint file ${ref.sha256} has ${found.sizeBytes} bytes that don't match its hash; it should have ${ref.sizeBytes}`,
  );
}
