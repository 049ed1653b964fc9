import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PolicyError } from '../../policy-error.js';
import { toFileName } from '../file-ref.js';
import { shardIndexContent } from '../shards.js';
import type { BlobRef, BlobStore } from './blob-store.js';
import { RemoteCheckpointFiles } from './remote-checkpoint-files.js';

let cache: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'retrace-cache-'));
});
afterEach(() => rm(cache, { recursive: true }));

/** Blobs that may be read and put only, as rights on a bucket may say. */
class UnlistedStore implements BlobStore {
  readonly description = 'blobs in memory';
  readonly refused: string[] = [];
  readonly blobs = new Map<string, Uint8Array>();

  async put(name: string, path: string): Promise<void> {
    this.blobs.set(name, await readFile(path));
  }

  get(name: string): Promise<AsyncIterable<Uint8Array> | null> {
    const blob = this.blobs.get(name);
    return Promise.resolve(blob === undefined ? null : piecesOf(blob));
  }

  has(name: string): Promise<boolean> {
    return Promise.resolve(this.blobs.has(name));
  }

  delete(name: string): Promise<void> {
    return this.refuse(`delete ${name}`);
  }

  list(): Promise<BlobRef[]> {
    return this.refuse('list');
  }

  private refuse(call: string): Promise<never> {
    this.refused.push(call);
    return Promise.reject(new PolicyError('CHECKPOINT_STORAGE_FAILED', `${call} is refused`));
  }
}

async function* piecesOf(blob: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(blob);
}

it('a reader neither lists nor removes what a writer left, and a writer goes on where it may not', async () => {
  const store = new UnlistedStore();
  const content = Uint8Array.of(1, 2, 3);
  const ref = { sha256: createHash('sha256').update(content).digest('hex'), sizeBytes: 3 };
  store.blobs.set(toFileName(ref.sha256), content);
  const left = join(cache, `${'0'.repeat(36)}.partial`);
  await mkdir(left);
  await writeFile(join(left, 'index'), shardIndexContent([{ sha256: 'a'.repeat(64), sizeBytes: 1 }], {}));
  const hoursAgo = Date.now() / 1000 - 7200;
  await utimes(left, hoursAgo, hoursAgo);
  const files = new RemoteCheckpointFiles(cache, store);
  expect([...(await files.read(ref))]).toEqual([1, 2, 3]);
  expect(store.refused).toEqual([]);
  await files.write(Uint8Array.of(4));
  expect(store.refused).toEqual(['list']);
  await stat(left);
});
