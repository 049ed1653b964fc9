import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PolicyError } from '../policy-error.js';
import { notWritten, refuseMissing, removedMeanwhile, requireContent } from './checkpoint-errors.js';
import { toFileName, type FileRef } from './file-ref.js';
import { filesIn, readUpTo, readSize } from './files-on-disk.js';
import { openRegularFile } from './open-regular-file.js';
import { SafetensorsFile } from './safetensors-file.js';
import type { SafetensorsMetadata } from './safetensors-header.js';
import { ShardIndexes } from './shard-indexes.js';
import { MAX_INDEX_BYTES, shardIndexContent, shardsIn } from './shards.js';
import { intendIndex, isUnfinishedName, removeAbandoned, unfinishedName } from './unfinished.js';
import { nameContent, syncDirectory, writeSynced } from './write-synced.js';

/** A file whose content is written, but perhaps not durable yet. */
export interface WrittenFile extends FileRef {
  /** The temporary name that the file has until it is durable, perhaps in a directory of `makeScratch`; null where it is. */
  readonly name: string | null;
}

/** A file that another process wrote to a directory of `makeScratch`, and synced. */
export interface AdoptedFile extends FileRef {
  readonly path: string;
}

/** Bytes that are read at once when a file is verified. */
const PIECE_BYTES = 4 * 2 ** 20;

/**
 * Immutable files in one directory, named by the SHA-256 of their content. Several processes may write and read.
 * A file is complete or absent: it is written under a temporary name, synced and renamed, and its directory is synced. One of them may be the
 * index of shards (`shards.ts`), which then belong to it.
 */
export class CheckpointFiles {
  private readonly indexes = new ShardIndexes({
    list: () => this.list(),
    readSmall: (sha256) => this.readSmall(sha256),
    pathOf: (sha256) => this.pathOf(sha256),
  });

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
    await this.removeAbandoned();
    return this.store(content, onWritten);
  }

  /** As `write`, for whoever only reads what others wrote: removes nothing that others left. */
  protected async store(
    content: Uint8Array | AsyncIterable<Uint8Array>,
    onWritten?: (file: WrittenFile) => void,
  ): Promise<FileRef> {
    const name = unfinishedName();
    const partial = join(this.directory, name);
    const source = content instanceof Uint8Array ? [content] : content;
    try {
      await mkdir(this.directory, { recursive: true });
      const ref = await writeSynced(partial, source, (written) => onWritten?.({ ...written, name }));
      await rename(partial, this.pathOf(ref.sha256));
      await syncDirectory(this.directory);
      return ref;
    } catch (cause) {
      await rm(partial, { force: true }).catch(() => undefined);
      throw notWritten(cause);
    }
  }

  /** Makes a directory in which other processes write files for `adopt` and `adoptFile`; the caller removes it. */
  async makeScratch(): Promise<string> {
    const path = join(this.directory, unfinishedName());
    try {
      await Promise.all([this.removeAbandoned(), mkdir(path, { recursive: true })]);
      return path;
    } catch (cause) {
      throw notWritten(cause);
    }
  }

  /** Takes over one file as `adopt` does shards; whoever opens it verifies its content. Resolves when its name is durable. */
  async adoptFile(file: AdoptedFile): Promise<FileRef> {
    try {
      await this.take(file);
      await syncDirectory(this.directory);
    } catch (cause) {
      throw notWritten(cause);
    }
    return { sha256: file.sha256, sizeBytes: file.sizeBytes };
  }

  /**
   * Takes over shards in a directory of `makeScratch`, and writes their index, by whose name they are read as one file. Resolves when it is durable
   * and all of them were there after it. Whoever removes another checkpoint with an equal shard, and looked at the indexes before this one was
   * there, may still remove that shard later.
   *
   * @param metadata text entries of the whole
   * @throws PolicyError as `write`; `CHECKPOINT_CORRUPT` for a file of another size
   */
  async adopt(shards: readonly AdoptedFile[], metadata: SafetensorsMetadata): Promise<FileRef> {
    const content = shardIndexContent(shards, metadata);
    const index = await nameContent([content]);
    let wasThere: boolean;
    try {
      // An equal index may be that of a checkpoint which the log names.
      wasThere = await this.isPresent(index.sha256);
      // By it the shards of a writer that dies are found, which no index lists yet.
      const scratches = new Set(shards.map(({ path }) => dirname(path)));
      for (const scratch of scratches) await intendIndex(scratch, content);
      for (const shard of shards) await this.take(shard);
      await this.write(content);
    } catch (cause) {
      await this.removeUnlisted(shards, '').catch(() => undefined);
      throw notWritten(cause);
    }
    await this.requirePresent(shards, index, !wasThere);
    return index;
  }

  /**
   * Whoever removed another checkpoint with an equal shard may have looked before the index was there, and removed the shard. The index of such a
   * checkpoint goes if it is this writer's. A look that fails removes nothing.
   */
  private async requirePresent(shards: readonly FileRef[], index: FileRef, isOwn: boolean): Promise<void> {
    try {
      for (const { sha256 } of [...shards, index]) {
        if (await this.isPresent(sha256)) continue;
        if (isOwn) await this.removeFile(index.sha256).catch(() => undefined);
        await this.removeUnlisted(shards, '').catch(() => undefined);
        throw removedMeanwhile(sha256);
      }
    } catch (cause) {
      throw notWritten(cause);
    }
  }

  /** Gives a file its name, if it can be read here: who wrote it may be another user. */
  protected async take({ path, sha256, sizeBytes }: AdoptedFile): Promise<void> {
    const file = await open(path, 'r');
    const { size } = await file.stat();
    await file.close();
    requireContent({ sha256, sizeBytes }, { sha256, sizeBytes: size });
    await rename(path, this.pathOf(sha256));
  }

  /**
   * Reads the content of one file into memory and verifies it; of an index, not that of its shards.
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
   * Verifies the content, and that of the shards of an index, reading it in pieces.
   *
   * @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`
   */
  async verify(ref: FileRef): Promise<void> {
    await this.verifyFile(ref);
    const [, ...shards] = await this.filesOf(ref);
    for (const shard of shards) await this.verifyFile(shard);
  }

  /**
   * The file with the shards that it lists, if it is an index.
   *
   * @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`
   */
  async filesOf(ref: FileRef): Promise<readonly FileRef[]> {
    if (ref.sizeBytes > MAX_INDEX_BYTES) return [ref];
    const shards = shardsIn(await this.read(ref), this.pathOf(ref.sha256));
    return [ref, ...this.indexes.remember(ref.sha256, shards)];
  }

  protected async verifyFile(ref: FileRef): Promise<void> {
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
    return SafetensorsFile.open(await this.locate(ref));
  }

  /**
   * As `open`, for a file that may not be durable yet.
   *
   * @throws PolicyError as `open` does
   */
  async openWritten({ name, sha256, sizeBytes }: WrittenFile): Promise<SafetensorsFile> {
    const ref = { sha256, sizeBytes };
    if (name === null || !isUnfinishedName(name)) return this.open(ref);
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
   * Verifies a file and returns its path on this machine, beside which its shards are, for another process that reads it; it stays there as
   * long as nobody removes it.
   *
   * @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`
   */
  async locate(ref: FileRef): Promise<string> {
    await this.verify(ref);
    return this.pathOf(ref.sha256);
  }

  /** Removes a file, and the shards of an index that no other index lists; one that does not exist is no error. */
  async remove(sha256: string): Promise<void> {
    // The index goes last: as long as it is there, whoever removes it again finds its shards.
    await this.removeUnlisted(await this.indexes.shardsOf(sha256), sha256);
    await this.removeFile(sha256);
    this.indexes.forget(sha256);
  }

  /** Removes those of some shards that no index but this one lists. */
  private async removeUnlisted(shards: readonly FileRef[], index: string): Promise<void> {
    for (const { sha256 } of await this.indexes.unlisted(shards, index)) await this.removeFile(sha256);
  }

  /** The content of a file, which is not verified; null for one that is larger than any index, or is not there. */
  protected readSmall(sha256: string): Promise<Uint8Array | null> {
    return readUpTo(MAX_INDEX_BYTES, this.pathOf(sha256));
  }

  protected async removeFile(sha256: string): Promise<void> {
    await rm(this.pathOf(sha256), { force: true });
  }

  /** Whether there is a file of this name, whatever its content. */
  protected async isPresent(sha256: string): Promise<boolean> {
    return (await readSize(this.pathOf(sha256))) !== null;
  }

  /** Lists all complete files by hash, with their sizes on disk; contents are not verified. */
  list(): Promise<FileRef[]> {
    return filesIn(this.directory);
  }

  private async openRegular(ref: FileRef): Promise<FileHandle> {
    const file = await openRegularFile(this.pathOf(ref.sha256)).catch(refuseMissing(ref));
    if (file !== null) return file;
    const message = `checkpoint file ${ref.sha256} is no regular file; restore it from a backup`;
    throw new PolicyError('CHECKPOINT_CORRUPT', message);
  }

  private removeAbandoned(): Promise<void> {
    return removeAbandoned(this.directory, (shards) => this.removeUnlisted(shards, ''));
  }

  protected pathOf(sha256: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256)) {
      throw new PolicyError('INVALID_REQUEST', `${JSON.stringify(sha256)} is not a SHA-256 in hex`);
    }
    return join(this.directory, toFileName(sha256));
  }
}
