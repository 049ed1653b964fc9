import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PolicyError } from '../../policy-error.js';
import { requireContent } from '../checkpoint-errors.js';
import { CheckpointFiles, type AdoptedFile } from '../checkpoint-files.js';
import { toFileName, hashOfName, type FileRef } from '../file-ref.js';
import { readMetadata } from '../safetensors-file.js';
import { isShard, MAX_INDEX_BYTES, shardsIn, readShards } from '../shards.js';
import { nameContent } from '../write-synced.js';
import type { BlobStore } from './blob-store.js';

/** Age up to which a shard without an index is being written or fetched. */
const UNDER_WAY_MS = 3_600_000;

/** Checkpoints that the cache keeps: weights and optimizer state of the newest versions, which are read next. */
const MAX_CACHED = 4;

/**
 * Checkpoint files in shared storage, with a directory on this machine as a cache of a few. A file is in the storage when `write` resolves.
 * Whatever comes from the storage is compared with its hash.
 */
export class RemoteCheckpointFiles extends CheckpointFiles {
  /** Whether each file of the cache is an index, a shard, or a whole checkpoint. */
  private readonly roles = new Map<string, CachedRole>();

  constructor(
    cacheDirectory: string,
    private readonly remote: BlobStore,
  ) {
    super(cacheDirectory);
  }

  /** @throws PolicyError as `CheckpointFiles.write`; `CHECKPOINT_STORAGE_FAILED`, retriable */
  override async write(content: Uint8Array | AsyncIterable<Uint8Array>): Promise<FileRef> {
    const ref = await super.write(content);
    await this.remote.put(toFileName(ref.sha256), this.pathOf(ref.sha256));
    await this.prune();
    return ref;
  }

  /** @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`, `CHECKPOINT_STORAGE_FAILED` */
  override async read(ref: FileRef): Promise<Uint8Array> {
    await this.fetch(ref);
    return super.read(ref);
  }

  /** Reads the storage, and leaves the cache as it is. */
  override async filesOf(ref: FileRef): Promise<readonly FileRef[]> {
    if (ref.sizeBytes > MAX_INDEX_BYTES) return [ref];
    const bytes: Uint8Array[] = [];
    for await (const piece of await this.pieces(ref)) bytes.push(piece);
    requireContent(ref, await nameContent(bytes));
    return [ref, ...shardsIn(Buffer.concat(bytes), this.pathOf(ref.sha256))];
  }

  /** Verifies the content in the storage, whatever the cache has. */
  protected override async verifyFile(ref: FileRef): Promise<void> {
    requireContent(ref, await nameContent(await this.pieces(ref)));
  }

  /** @throws PolicyError `CHECKPOINT_MISSING`, `CHECKPOINT_CORRUPT`, `CHECKPOINT_STORAGE_FAILED` */
  override async locate(ref: FileRef): Promise<string> {
    await this.fetch(ref);
    const [, ...shards] = await super.filesOf(ref);
    for (const shard of shards) await this.fetch(shard);
    return this.pathOf(ref.sha256);
  }

  protected override async take(file: AdoptedFile): Promise<void> {
    // The directory that it came from is in use for as long as the upload takes.
    const now = new Date();
    await utimes(dirname(file.path), now, now);
    await super.take(file);
    await this.remote.put(toFileName(file.sha256), this.pathOf(file.sha256));
    await this.prune();
  }

  protected override async removeFile(sha256: string): Promise<void> {
    await super.removeFile(sha256);
    await this.remote.delete(toFileName(sha256));
  }

  protected override async readSmall(sha256: string): Promise<Uint8Array | null> {
    const pieces = await this.remote.get(toFileName(sha256));
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

  protected override isPresent(sha256: string): Promise<boolean> {
    return this.remote.has(toFileName(sha256));
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
    const found = await this.store(await this.pieces(ref));
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
    const pieces = await this.remote.get(toFileName(sha256));
    if (pieces !== null) return pieces;
    const what = `checkpoint file ${sha256} does not exist in ${this.remote.description}`;
    throw new PolicyError('CHECKPOINT_MISSING', what);
  }

  /** Removes the checkpoints of the cache that were used longest ago; a file that is open stays readable. */
  private async prune(): Promise<void> {
    const hashes = (await readdir(this.directory)).map(hashOfName).filter((sha256) => sha256 !== null);
    if (hashes.length <= MAX_CACHED) return;
    const files = (await Promise.all(hashes.map((sha256) => this.cached(sha256)))).filter((f) => f !== null);
    const heads = files.filter(({ role }) => role !== 'shard').sort((a, b) => b.mtimeMs - a.mtimeMs);
    const kept = new Set(heads.slice(0, MAX_CACHED).flatMap(namesIn));
    const listed = new Set(heads.flatMap(namesIn));
    for (const { sha256, role, mtimeMs } of files) {
      // Whoever writes or fetches shards, in this process or another, may not have come to their index yet, or to all of them.
      const isUnderWay = role === 'shard' && !listed.has(sha256) && Date.now() - mtimeMs < UNDER_WAY_MS;
      if (!kept.has(sha256) && !isUnderWay) await rm(this.pathOf(sha256), { force: true });
    }
  }

  /** Null for a file that has been removed meanwhile. */
  private async cached(sha256: string): Promise<CachedFile | null> {
    try {
      const path = this.pathOf(sha256);
      const { mtimeMs } = await stat(path);
      const role = this.roles.get(sha256) ?? (await detectRole(path));
      this.roles.set(sha256, role);
      return { sha256, mtimeMs, role };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || isMissing(error)) return null;
      throw error;
    }
  }
}

/** The shards of an index; `shard`; `whole`. */
type CachedRole = readonly FileRef[] | 'shard' | 'whole';

interface CachedFile {
  readonly sha256: string;
  readonly mtimeMs: number;
  readonly role: CachedRole;
}

const namesIn = ({ sha256, role }: CachedFile): string[] =>
  typeof role === 'string' ? [sha256] : [sha256, ...role.map((shard) => shard.sha256)];

async function detectRole(path: string): Promise<CachedRole> {
  try {
    const metadata = await readMetadata(path);
    return readShards(metadata, path) ?? (isShard(metadata) ? 'shard' : 'whole');
  } catch (error) {
    // Content of another format is a checkpoint to nobody else either.
    if (error instanceof PolicyError && !isMissing(error)) return 'whole';
    throw error;
  }
}

const isMissing = (error: unknown): boolean => error instanceof PolicyError && error.code === 'FILE_MISSING';
