import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeSafetensors } from '../testing/safetensors.js';
import { cut, halves, shardFiles, two } from '../testing/shards.js';
import { CheckpointFiles } from './checkpoint-files.js';
import { SafetensorsFile } from './safetensors-file.js';

let directory: string;
let files: CheckpointFiles;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-shards-'));
  files = new CheckpointFiles(directory);
});

afterEach(() => rm(directory, { recursive: true }));

describe('checkpoints in shards', () => {
  it('are read as one file, however their rows are cut', async () => {
    const tensor = fc.record({ rows: fc.integer({ min: 1, max: 7 }), width: fc.integer({ min: 1, max: 3 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(tensor, { minLength: 1, maxLength: 4 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }),
        async (sizes, places) => {
          const tensors = new Map(
            sizes.map(({ rows, width }, i) => {
              const data = Float32Array.from({ length: rows * width }, (_, n) => 10 * i + n);
              return [`t${i}`, { shape: [rows, width], data }] as const;
            }),
          );
          const sorted = [...places].sort((a, b) => a - b);
          const shards = cut(tensors, (rows) => sorted.map((place) => Math.round(place * rows)));
          const ref = await files.adopt(await shardFiles(files, shards), { step: '3' });
          const file = await files.open(ref);
          expect(file.header.metadata.step).toBe('3');
          for (const [name, { shape, data }] of tensors) {
            file.requireTensor(name, shape);
            const values = new Float32Array(data.length);
            await file.read(name, values);
            expect(values).toEqual(data);
          }
          await file.close();
        },
      ),
      { numRuns: 25 },
    );
  });

  it('have the name that the same shards and texts have again', async () => {
    const first = await files.adopt(await shardFiles(files, halves(two(4))), { a: 'b' });
    expect(await files.adopt(await shardFiles(files, halves(two(4))), { a: 'b' })).toEqual(first);
    expect(await files.filesOf(first)).toHaveLength(3);
    expect(await files.filesOf(await files.write(encodeSafetensors(two(4))))).toHaveLength(1);
  });

  it('are damaged or missing where one shard is', async () => {
    const ref = await files.adopt(await shardFiles(files, halves(two(4))), {});
    const [, , last] = await files.filesOf(ref);
    const path = join(directory, `${last.sha256}.safetensors`);
    await writeFile(path, Buffer.alloc(last.sizeBytes));
    for (const reading of ['verify', 'open', 'locate'] as const)
      await expect(files[reading](ref)).rejects.toMatchObject({ code: 'CHECKPOINT_CORRUPT' });
    await rm(path);
    for (const reading of ['verify', 'open', 'locate'] as const)
      await expect(files[reading](ref)).rejects.toMatchObject({ code: 'CHECKPOINT_MISSING' });
  });

  it('are removed with their index, but for those that another index lists', async () => {
    const kept = await files.adopt(await shardFiles(files, halves(two(4))), {});
    // Its first half is the same.
    const removed = await files.adopt(await shardFiles(files, halves(two(5))), {});
    await files.remove(removed.sha256);
    await files.verify(kept);
    const shards = (await readdir(directory)).filter((name) => name.endsWith('.safetensors'));
    expect(shards).toHaveLength(3);
    await files.remove(kept.sha256);
    expect((await readdir(directory)).filter((name) => name.endsWith('.safetensors'))).toEqual([]);
  });

  it('are left alone where another index can not be read', async () => {
    const kept = await files.adopt(await shardFiles(files, halves(two(4))), {});
    const removed = await files.adopt(await shardFiles(files, halves(two(5))), {});
    const other = new CheckpointFiles(directory);
    const index = join(directory, `${kept.sha256}.safetensors`);
    const bytes = await readFile(index);
    await rm(index);
    // Reading it fails for a reason that says nothing of its content.
    await mkdir(index);
    await expect(other.remove(removed.sha256)).rejects.toThrow('EISDIR');
    await rm(index, { recursive: true });
    await writeFile(index, bytes);
    await other.verify(kept);
  });

  it('are not taken over where one is not as it was said, and leave nothing', async () => {
    const [first, second] = await shardFiles(files, halves(two(4)));
    const wrong = { ...second, sizeBytes: second.sizeBytes + 1 };
    await expect(files.adopt([first, wrong], {})).rejects.toMatchObject({ code: 'CHECKPOINT_CORRUPT' });
    await expect(files.adoptFile(wrong)).rejects.toMatchObject({ code: 'CHECKPOINT_CORRUPT' });
    expect(await files.list()).toEqual([]);
    expect(await files.adoptFile(second)).toEqual({ sha256: second.sha256, sizeBytes: second.sizeBytes });
  });

  it('leave a directory that is removed once its writer has died', async () => {
    const scratch = await files.makeScratch();
    await writeFile(join(scratch, 'half'), 'half');
    const hoursAgo = Date.now() / 1000 - 7200;
    await utimes(scratch, hoursAgo, hoursAgo);
    await files.write(Uint8Array.of(1));
    await expect(stat(scratch)).rejects.toThrow('ENOENT');
  });

  it.each([
    ['', 'is ""'],
    ['../../elsewhere:4', 'is "../../elsewhere:4"'],
  ])('refuse the list %j', async (retraceShards, found) => {
    const path = join(directory, 'index.safetensors');
    await writeFile(path, encodeSafetensors(new Map(), { retraceShards }));
    await expect(SafetensorsFile.open(path)).rejects.toThrow(`metadata.retraceShards ${found}`);
  });

  it('refuse shards whose rows do not fit together', async () => {
    const wide = new Map([['w', { shape: [1, 3], data: new Float32Array(3) }]]);
    const ref = await files.adopt(await shardFiles(files, [...halves(two(4)), wide]), {});
    await expect(files.open(ref)).rejects.toThrow('tensor w is F32 [1, 3], and other in another shard');
  });
});
