import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BlobStore } from './blob-store.js';

/** An implementation of `BlobStore` to try. */
interface BlobStoreUnderTest {
  /** An empty store. */
  readonly open: () => BlobStore;
  /** Size of a blob that the store takes in several parts. */
  readonly largeBytes: number;
}

/** Checks the duties that `BlobStore` states. */
export function describeBlobStore(name: string, subject: BlobStoreUnderTest): void {
  describe(`BlobStore ${name}`, () => {
    let directory: string;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'retrace-blobs-'));
    });
    afterAll(() => rm(directory, { recursive: true }));

    async function fileOf(bytes: Uint8Array): Promise<string> {
      const path = join(directory, randomBytes(8).toString('hex'));
      await writeFile(path, bytes);
      return path;
    }
    async function contentOf(store: BlobStore, blob: string): Promise<Buffer | null> {
      const pieces = await store.get(blob);
      if (pieces === null) return null;
      const all: Uint8Array[] = [];
      for await (const piece of pieces) all.push(piece);
      return Buffer.concat(all);
    }

    it('gives back what was put, replaces it, and has no other blob', async () => {
      const store = subject.open();
      expect(await contentOf(store, 'a.bin')).toBeNull();
      await store.put('a.bin', await fileOf(Buffer.from('first')));
      await store.put('a.bin', await fileOf(Buffer.from('second')));
      expect((await contentOf(store, 'a.bin'))?.toString()).toBe('second');
      expect(await contentOf(store, 'a')).toBeNull();
      expect([await store.has('a.bin'), await store.has('a')]).toEqual([true, false]);
      expect(await store.list()).toEqual([{ name: 'a.bin', sizeBytes: 6 }]);
    });

    it('takes empty blobs, and large ones in parts', async () => {
      const store = subject.open();
      const large = randomBytes(subject.largeBytes);
      await store.put('empty', await fileOf(new Uint8Array(0)));
      await store.put('large', await fileOf(large));
      expect((await contentOf(store, 'empty'))?.length).toBe(0);
      expect((await contentOf(store, 'large'))?.equals(large)).toBe(true);
      const sizes = new Map((await store.list()).map((blob) => [blob.name, blob.sizeBytes]));
      expect(sizes).toEqual(
        new Map([
          ['empty', 0],
          ['large', subject.largeBytes],
        ]),
      );
    });

    it('removes blobs, and bears with those that are gone', async () => {
      const store = subject.open();
      for (const blob of ['a', 'b']) await store.put(blob, await fileOf(Buffer.from(blob)));
      await store.delete('a');
      await store.delete('a');
      expect((await store.list()).map((blob) => blob.name)).toEqual(['b']);
    });

    it('shows a blob only whole, while others put it', async () => {
      const store = subject.open();
      const contents = [randomBytes(subject.largeBytes), randomBytes(subject.largeBytes)];
      const paths = await Promise.all(contents.map(fileOf));
      await store.put('shared', paths[0]);
      const putting = Promise.all(paths.map((path) => store.put('shared', path)));
      for (let n = 0; n < 3; n++) {
        const found = await contentOf(store, 'shared');
        expect(contents.some((content) => found?.equals(content))).toBe(true);
      }
      await putting;
    });
  });
}
