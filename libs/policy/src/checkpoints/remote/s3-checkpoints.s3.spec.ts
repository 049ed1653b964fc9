import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { appendFile, copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type {} from '../../../s3-server/start-s3-server.mjs';
import type { CheckpointFiles } from '../checkpoint-files.js';
import { SafetensorsFile } from '../safetensors-file.js';
import { encodeSafetensors } from '../../testing/safetensors.js';
import { describeBlobStore } from './blob-store.contract.js';
import { checkpointsAt } from './checkpoints-at.js';
import { S3BlobStore } from './s3-blob-store.js';

const server = inject('s3Server');
const title =
  'unavailable' in server
    ? `checkpoints on S3 (skipped, because ${server.unavailable})`
    : 'checkpoints on S3';

describe.skipIf('unavailable' in server)(title, () => {
  if ('unavailable' in server) return;
  const { endpoint, bucket, bucketDirectory, credentials } = server;

  beforeAll(() => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', credentials.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  describeBlobStore('on S3', {
    open: () => new S3BlobStore({ bucket, prefix: `${randomUUID()}/`, endpoint, region: null }),
    // Three parts.
    largeBytes: 40 * 2 ** 20,
  });

  describe('RemoteCheckpointFiles', () => {
    let directory: string;
    let prefix: string;
    const content = Uint8Array.of(1, 2, 3, 250);

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'retrace-remote-'));
      prefix = randomUUID();
    });
    afterEach(() => rm(directory, { recursive: true }));

    /** The files as another machine sees them. */
    const on = (machine: string): CheckpointFiles =>
      checkpointsAt({
        directory: join(directory, machine),
        storage: { url: `s3://${bucket}/${prefix}`, endpoint },
      });
    const objectOf = (sha256: string) => join(bucketDirectory, prefix, `${sha256}.safetensors`);

    it('are read on another machine, and keep a few copies on each', async () => {
      const [writer, reader] = [on('writer'), on('reader')];
      const refs = [];
      for (let n = 0; n < 7; n++) refs.push(await writer.write(Uint8Array.of(n)));
      for (const [n, ref] of refs.entries()) expect([...(await reader.read(ref))]).toEqual([n]);
      const byHash = (refs: readonly { sha256: string }[]) => refs.map(({ sha256 }) => sha256).sort();
      expect(byHash(await reader.list())).toEqual(byHash(refs));
      expect(await readdir(directory)).toEqual(['reader-cache', 'writer-cache']);
      for (const machine of ['writer', 'reader']) {
        expect(await readdir(join(directory, `${machine}-cache`))).toHaveLength(4);
      }
      await writer.remove(refs[0].sha256);
      expect(await on('third').list()).toHaveLength(6);
    });

    it('take shards, which another machine reads as one file, and remove them with it', async () => {
      const writer = on('writer');
      const adopt = async (value: number) => {
        const scratch = await writer.makeScratch();
        const shards = [1, value].map((first, s) => {
          const bytes = encodeSafetensors(new Map([['w', { shape: [1], data: Float32Array.of(first) }]]), {
            retraceShard: 'yes',
          });
          const path = join(scratch, String(s));
          writeFileSync(path, bytes);
          return { path, sha256: createHash('sha256').update(bytes).digest('hex'), sizeBytes: bytes.length };
        });
        const ref = await writer.adopt(shards, { value: String(value) });
        await rm(scratch, { recursive: true });
        return ref;
      };
      const refs = [];
      for (let value = 2; value < 8; value++) refs.push(await adopt(value));
      const reader = on('reader');
      for (const [n, ref] of refs.entries()) {
        const file = await reader.open(ref);
        const values = new Float32Array(2);
        await file.read('w', values);
        expect([...values]).toEqual([1, n + 2]);
        await file.close();
      }
      // Four checkpoints of two files each, and the shard that they share.
      for (const machine of ['writer', 'reader'])
        expect(await readdir(join(directory, `${machine}-cache`))).toHaveLength(9);
      // Another process of the reader's machine brings one more, and those that are newer stay whole.
      await (await on('reader').open(refs[0])).close();
      await (await SafetensorsFile.open(await reader.locate(refs[5]))).close();
      await on('fourth').verify(refs[5]);
      await expect(readdir(join(directory, 'fourth-cache'))).rejects.toThrow('ENOENT');
      await writeFile(objectOf((await writer.filesOf(refs[5]))[2].sha256), 'damaged');
      await expect(on('third').verify(refs[5])).rejects.toMatchObject({ code: 'CHECKPOINT_CORRUPT' });
      for (const { sha256 } of refs.slice(1)) await on('third').remove(sha256);
      expect(await on('third').list()).toHaveLength(3);
      await on('third').remove(refs[0].sha256);
      expect(await on('third').list()).toEqual([]);
    });

    it('tell a missing file from a corrupt one, wherever it was damaged', async () => {
      const ref = await on('writer').write(content);
      const reader = on('reader');
      for (const reading of ['read', 'verify', 'open'] as const) {
        const missing = reader[reading]({ ...ref, sha256: '0'.repeat(64) });
        await expect(missing).rejects.toMatchObject({ code: 'CHECKPOINT_MISSING' });
      }
      await writeFile(objectOf(ref.sha256), Uint8Array.of(1, 2, 3, 251));
      for (const reading of ['read', 'verify', 'open'] as const) {
        await expect(reader[reading](ref)).rejects.toMatchObject({ code: 'CHECKPOINT_CORRUPT' });
      }
      expect(await readdir(join(directory, 'reader-cache'))).toEqual([]);
      // The writer's copy is whole, but what others would get is not.
      const writer = on('writer');
      expect([...(await writer.read(ref))]).toEqual([...content]);
      await expect(writer.verify(ref)).rejects.toMatchObject({ code: 'CHECKPOINT_CORRUPT' });
      await writer.write(content);
      expect([...(await reader.read(ref))]).toEqual([...content]);
    });

    it('list more files than one page of the answer has', async () => {
      const ref = await on('writer').write(content);
      const hashes = Array.from({ length: 1100 }, (_, i) => String(i).padStart(64, '0'));
      for (const sha256 of hashes) await copyFile(objectOf(ref.sha256), objectOf(sha256));
      const found = (await on('writer').list()).map(({ sha256 }) => sha256);
      expect(found.sort()).toEqual([...hashes, ref.sha256].sort());
    });

    it('bring a damaged copy again from the storage', async () => {
      const ref = await on('writer').write(content);
      const copy = join(directory, 'writer-cache', `${ref.sha256}.safetensors`);
      await appendFile(copy, 'x');
      expect([...(await on('writer').read(ref))]).toEqual([...content]);
    });

    it('name the storage and the reason where it refuses', async () => {
      const none = checkpointsAt({
        directory: join(directory, 'a'),
        storage: { url: 's3://no-such-bucket', endpoint },
      });
      await expect(none.write(randomBytes(3))).rejects.toMatchObject({
        code: 'CHECKPOINT_STORAGE_FAILED',
        retriable: true,
        message: expect.stringContaining(`s3://no-such-bucket/ at ${endpoint}: NoSuchBucket`) as string,
      });
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'another');
      await expect(on('b').list()).rejects.toThrow(/SignatureDoesNotMatch/);
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey);
    });
  });
});
