import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NamedTensors } from '../parameters/named-tensors.js';
import { encodeSafetensors } from '../testing/safetensors.js';
import { CheckpointFiles, type AdoptedFile } from './checkpoint-files.js';
import type { FileRef } from './file-ref.js';
import { SafetensorsFile } from './safetensors-file.js';

let directory: string;
let files: CheckpointFiles;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-shards-'));
  files = new CheckpointFiles(directory);
});

afterEach(() => rm(directory, { recursive: true }));

type Tensors = Map<string, { readonly shape: number[]; readonly data: Float32Array }>;

/** Writes shards as the processes of a worker do. */
async function shardFiles(shards: readonly NamedTensors[]): Promise<AdoptedFile[]> {
  const scratch = await files.makeScratch();
  return Promise.all(
    shards.map(async (tensors) => {
      const bytes = encodeSafetensors(tensors, { retraceShard: 'yes' });
      const path = join(scratch, randomUUID());
      await writeFile(path, bytes);
      return { path, sha256: createHash('sha256').update(bytes).digest('hex'), sizeBytes: bytes.length };
    }),
  );
}

/** Cuts tensors by rows; a shard lacks a tensor of which it has none. */
function cut(tensors: Tensors, cutsOf: (rows: number) => readonly number[]): NamedTensors[] {
  const shards: Tensors[] = [];
  for (const [name, { shape, data }] of tensors) {
    const width = data.length / shape[0];
    const cuts = [...cutsOf(shape[0]), shape[0]];
    let first = 0;
    for (const [s, end] of cuts.entries()) {
      shards[s] ??= new Map();
      const rows = data.slice(first * width, end * width);
      if (end > first) shards[s].set(name, { shape: [end - first, ...shape.slice(1)], data: rows });
      first = end;
    }
  }
  return shards.filter(({ size }) => size > 0);
}

const two = (value: number): Tensors =>
  new Map([['w', { shape: [2, 2], data: Float32Array.of(1, 2, 3, value) }]]);
const halves = (tensors: Tensors) => cut(tensors, (rows) => [rows / 2]);

/** A writer that never comes to one of its steps: a shard or the index that gets its name, the look whether all are there. */
class DyingWriter extends CheckpointFiles {
  private died: () => void = () => undefined;
  private numSteps = 0;

  constructor(
    path: string,
    private readonly lastStep: number,
  ) {
    super(path);
  }

  async adoptUntilDeath(shards: readonly AdoptedFile[]): Promise<void> {
    const death = new Promise<void>((resolve) => {
      this.died = resolve;
    });
    void this.adopt(shards, {});
    await death;
  }

  protected override take(file: AdoptedFile): Promise<void> {
    return this.unlessDead(() => super.take(file));
  }

  override write(content: Uint8Array): Promise<FileRef> {
    return this.unlessDead(() => super.write(content));
  }

  override list(): Promise<FileRef[]> {
    return this.unlessDead(() => super.list());
  }

  private unlessDead<T>(step: () => Promise<T>): Promise<T> {
    if (this.numSteps++ < this.lastStep) return step();
    this.died();
    return new Promise(() => undefined);
  }
}

/** Waits between its look at the indexes and the first removal. */
class SlowRemover extends CheckpointFiles {
  private looked: () => void = () => undefined;
  goOn: () => void = () => undefined;
  readonly hasLooked = new Promise<void>((resolve) => {
    this.looked = resolve;
  });
  private readonly mayGoOn = new Promise<void>((resolve) => {
    this.goOn = resolve;
  });

  protected override async removeFile(sha256: string): Promise<void> {
    this.looked();
    await this.mayGoOn;
    await super.removeFile(sha256);
  }
}

/** Lets something happen once its shards have their names, before it writes their index for the first time. */
class WaitingWriter extends CheckpointFiles {
  constructor(
    path: string,
    private readonly happens: () => Promise<void>,
  ) {
    super(path);
  }

  override async write(content: Uint8Array): Promise<FileRef> {
    await this.happens();
    return super.write(content);
  }
}

/** Makes everything unfinished as old as what is abandoned, and has another process write. */
async function removeAbandoned(): Promise<void> {
  const hoursAgo = Date.now() / 1000 - 7200;
  for (const name of await readdir(directory))
    if (name.endsWith('.partial')) await utimes(join(directory, name), hoursAgo, hoursAgo);
  const other = new CheckpointFiles(directory);
  await other.remove((await other.write(Uint8Array.of(1))).sha256);
}

describe('checkpoints in shards', () => {
  it('are read as one file, however their rows are cut', async () => {
    const tensor = fc.record({ rows: fc.integer({ min: 1, max: 7 }), width: fc.integer({ min: 1, max: 3 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(tensor, { minLength: 1, maxLength: 4 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }),
        async (sizes, places) => {
          const tensors: Tensors = new Map(
            sizes.map(({ rows, width }, i) => {
              const data = Float32Array.from({ length: rows * width }, (_, n) => 10 * i + n);
              return [`t${i}`, { shape: [rows, width], data }] as const;
            }),
          );
          const sorted = [...places].sort((a, b) => a - b);
          const shards = cut(tensors, (rows) => sorted.map((place) => Math.round(place * rows)));
          const ref = await files.adopt(await shardFiles(shards), { step: '3' });
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
    const first = await files.adopt(await shardFiles(halves(two(4))), { a: 'b' });
    expect(await files.adopt(await shardFiles(halves(two(4))), { a: 'b' })).toEqual(first);
    expect(await files.filesOf(first)).toHaveLength(3);
    expect(await files.filesOf(await files.write(encodeSafetensors(two(4))))).toHaveLength(1);
  });

  it('are damaged or missing where one shard is', async () => {
    const ref = await files.adopt(await shardFiles(halves(two(4))), {});
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
    const kept = await files.adopt(await shardFiles(halves(two(4))), {});
    // Its first half is the same.
    const removed = await files.adopt(await shardFiles(halves(two(5))), {});
    await files.remove(removed.sha256);
    await files.verify(kept);
    const shards = (await readdir(directory)).filter((name) => name.endsWith('.safetensors'));
    expect(shards).toHaveLength(3);
    await files.remove(kept.sha256);
    expect((await readdir(directory)).filter((name) => name.endsWith('.safetensors'))).toEqual([]);
  });

  it('are left alone where another index can not be read', async () => {
    const kept = await files.adopt(await shardFiles(halves(two(4))), {});
    const removed = await files.adopt(await shardFiles(halves(two(5))), {});
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
    const [first, second] = await shardFiles(halves(two(4)));
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
    ['first shard', 0],
    ['second shard', 1],
    ['index', 2],
  ])(
    'leave nothing, and take nothing from others, where their writer dies before the %s',
    async (_, step) => {
      const kept = await files.adopt(await shardFiles(halves(two(4))), {});
      const before = await files.list();
      // Its first half is the same.
      const shards = await shardFiles(halves(two(5)));
      await new DyingWriter(directory, step).adoptUntilDeath(shards);
      await removeAbandoned();
      expect(await files.list()).toEqual(before);
      await files.verify(kept);
      expect((await readdir(directory)).filter((name) => name.endsWith('.partial'))).toEqual([]);
    },
  );

  it('stay where their writer dies after the index', async () => {
    const shards = await shardFiles(halves(two(5)));
    await new DyingWriter(directory, 3).adoptUntilDeath(shards);
    await removeAbandoned();
    const index = (await files.list()).find(({ sha256 }) => shards.every((shard) => shard.sha256 !== sha256));
    await files.verify(index ?? shards[0]);
    expect(await files.list()).toHaveLength(3);
  });

  it('are not written where another process removes a shard that it found in no other index', async () => {
    const removed = await files.adopt(await shardFiles(halves(two(4))), {});
    const remover = new SlowRemover(directory);
    const removal = remover.remove(removed.sha256);
    await remover.hasLooked;
    const writer = new WaitingWriter(directory, () => {
      remover.goOn();
      return removal;
    });
    const adoption = writer.adopt(await shardFiles(halves(two(5))), {});
    await expect(adoption).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_WRITTEN', retriable: true });
    expect(await files.list()).toEqual([]);
    await files.verify(await writer.adopt(await shardFiles(halves(two(5))), {}));
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
    const ref = await files.adopt(await shardFiles([...halves(two(4)), wide]), {});
    await expect(files.open(ref)).rejects.toThrow('tensor w is F32 [1, 3], and other in another shard');
  });
});
