import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { PolicyError } from '../../policy-error.js';
import {
  CheckpointFiles,
  fileNameOf,
  hashOfName,
  nameContent,
  requireContent,
  type FileRef,
} from '../checkpoint-files.js';
import { SafetensorsFile } from '../safetensors-file.js';
import type { BlobStore } from './blob-store.js';

/** Files that the cache keeps: weights and optimizer state of the newest versions, which are read next. */
const MAX_CACHED_FILES = 4;

/**
 * Checkpoint files in shared storage, with a directory on this machine as a cache of a few. A file is in the storage when `write` resolves.
 * Whatever comes from the storage is compared with its hash.
 */
export class RemoteCheckpointFiles extends CheckpointFiles {
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

  /**
   * Verifies the content in the storage, whatever the cache has.
   *
   * @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`, `CHECKPOINT_STORAGE_FAILED`
   */
  override async verify(ref: FileRef): Promise<void> {
    requireContent(ref, await nameContent(await this.pieces(ref)));
  }

  /** @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`, `CHECKPOINT_STORAGE_FAILED`, `INVALID_FILE` */
  override async open(ref: FileRef): Promise<SafetensorsFile> {
    await this.fetch(ref);
    return SafetensorsFile.open(this.pathOf(ref.sha256));
  }

  /** @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`, `CHECKPOINT_STORAGE_FAILED` */
  override async locate(ref: FileRef): Promise<string> {
    await this.fetch(ref);
    return this.pathOf(ref.sha256);
  }

  override async remove(sha256: string): Promise<void> {
    await super.remove(sha256);
    await this.remote.delete(fileNameOf(sha256));
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
    const isCached = await super.verify(ref).then(
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
      await super.remove(found.sha256);
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
    const names = (await readdir(this.directory)).filter((name) => hashOfName(name) !== null);
    if (names.length <= MAX_CACHED_FILES) return;
    const used = await Promise.all(
      names.map(async (name) => {
        const path = join(this.directory, name);
        return { path, mtimeMs: (await stat(path).catch(() => ({ mtimeMs: 0 }))).mtimeMs };
      }),
    );
    used.sort((a, b) => b.mtimeMs - a.mtimeMs);
    for (const { path } of used.slice(MAX_CACHED_FILES)) await rm(path, { force: true });
  }
}
