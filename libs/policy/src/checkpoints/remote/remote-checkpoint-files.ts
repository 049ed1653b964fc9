import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { PolicyError } from '../../policy-error.js';
import { requireContent } from '../checkpoint-errors.js';
import { CheckpointFiles, nameContent, type AdoptedFile } from '../checkpoint-files.js';
import { fileNameOf, hashOfName, type FileRef } from '../file-ref.js';
import type { SafetensorsMetadata } from '../safetensors-header.js';
import { MAX_INDEX_BYTES } from '../shards.js';
import type { BlobStore } from './blob-store.js';

/** Checkpoints that the cache keeps: weights and optimizer state of the newest versions, which are read next. */
const MAX_CACHED = 4;

/**
 * Checkpoint files in shared storage, with a directory on this machine as a cache of a few. A file is in the storage when `write` resolves.
 * Whatever comes from the storage is compared with its hash.
 */
export class RemoteCheckpointFiles extends CheckpointFiles {
  /** Most files of a checkpoint that was met: an index has shards. */
  private mostFiles = 1;

  constructor(
    cacheDirectory: string,
    private readonly remote: BlobStore,
  ) {
    super(cacheDirectory);
  }

  /** @throws PolicyError as `CheckpointFiles.write`; `CHECKPOINT_STORAGE_FAILED`, retriable */
  override async write(content: Uint8Array | AsyncIterable<Uint8Array>): Promise<FileRef> {
    const ref = await super.write(content);
    await this.remote.put(fileNameOf(ref.sha256), this.pathOf(ref.sha256));
    await this.prune();
    return ref;
  }

  /** @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`, `CHECKPOINT_STORAGE_FAILED` */
  override async read(ref: FileRef): Promise<Uint8Array> {
    await this.fetch(ref);
    return super.read(ref);
  }

  override async filesOf(ref: FileRef): Promise<readonly FileRef[]> {
    const files = await super.filesOf(ref);
    this.mostFiles = Math.max(this.mostFiles, files.length);
    return files;
  }

  /** Verifies the content in the storage, whatever the cache has. */
  protected override async verifyFile(ref: FileRef): Promise<void> {
    requireContent(ref, await nameContent(await this.pieces(ref)));
  }

  /** @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`, `CHECKPOINT_STORAGE_FAILED` */
  override async locate(ref: FileRef): Promise<string> {
    await this.fetch(ref);
    const [, ...shards] = await this.filesOf(ref);
    for (const shard of shards) await this.fetch(shard);
    return this.pathOf(ref.sha256);
  }

  override async adopt(shards: readonly AdoptedFile[], metadata: SafetensorsMetadata): Promise<FileRef> {
    this.mostFiles = Math.max(this.mostFiles, shards.length + 1);
    return super.adopt(shards, metadata);
  }

  protected override async take(file: AdoptedFile): Promise<void> {
    await super.take(file);
    await this.remote.put(fileNameOf(file.sha256), this.pathOf(file.sha256));
    await this.prune();
  }

  protected override async removeFile(sha256: string): Promise<void> {
    await super.removeFile(sha256);
    await this.remote.delete(fileNameOf(sha256));
  }

  protected override async readSmall(sha256: string): Promise<Uint8Array | null> {
    const pieces = await this.remote.get(fileNameOf(sha256));
    if (pieces === null) return null;
    const read: Uint8Array[] = [];
    let numBytes = 0;
    for await (const piece of pieces) {
      numBytes += piece.length;
      if (numBytes > MAX_INDEX_BYTES) return null;
      read.push(piece);
    }
    return Buffer.concat(read);
  }

  /** Lists the files in the storage. */
  override async list(): Promise<FileRef[]> {
    const blobs = await this.remote.list();
    return blobs.flatMap(({ name, sizeBytes }) => {
      const sha256 = hashOfName(name);
      return sha256 === null ? [] : [{ sha256, sizeBytes }];
    });
  }

  /** Brings a file into the cache, unless it is there with its content. */
  private async fetch(ref: FileRef): Promise<void> {
    const path = this.pathOf(ref.sha256);
    const isCached = await super.verifyFile(ref).then(
      () => true,
      (error: unknown) => {
        if (error instanceof PolicyError) return false;
        throw error;
      },
    );
    if (isCached) {
      const now = new Date();
      await utimes(path, now, now);
      return;
    }
    const found = await super.write(await this.pieces(ref));
    try {
      requireContent(ref, found);
    } catch (error) {
      // The content matches its own name, but it is not the file that was asked for.
      await super.removeFile(found.sha256);
      throw error;
    }
    await this.prune();
  }

  private async pieces({ sha256 }: FileRef): Promise<AsyncIterable<Uint8Array>> {
    const pieces = await this.remote.get(fileNameOf(sha256));
    if (pieces !== null) return pieces;
    const what = `checkpoint file ${sha256} does not exist in ${this.remote.description}`;
    throw new PolicyError('CHECKPOINT_MISSING', what);
  }

  /** Removes the files of the cache that were used longest ago; one that is open stays readable. */
  private async prune(): Promise<void> {
    const mostKept = MAX_CACHED * this.mostFiles;
    const names = (await readdir(this.directory)).filter((name) => hashOfName(name) !== null);
    if (names.length <= mostKept) return;
    const used = await Promise.all(
      names.map(async (name) => {
        const path = join(this.directory, name);
        return { path, mtimeMs: (await stat(path).catch(() => ({ mtimeMs: 0 }))).mtimeMs };
      }),
    );
    used.sort((a, b) => b.mtimeMs - a.mtimeMs);
    for (const { path } of used.slice(mostKept)) await rm(path, { force: true });
  }
}
