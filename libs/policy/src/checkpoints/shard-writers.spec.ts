import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { halves, shardFiles, two } from '../testing/shards.js';
import { CheckpointFiles, type AdoptedFile } from './checkpoint-files.js';
import type { FileRef } from './file-ref.js';

let directory: string;
let files: CheckpointFiles;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-shards-'));
  files = new CheckpointFiles(directory);
});

afterEach(() => rm(directory, { recursive: true }));

/** A writer that never comes to one of its steps: the look for its index, a shard or the index that gets its name, the look whether all are there. */
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

  protected override isPresent(sha256: string): Promise<boolean> {
    return this.unlessDead(() => super.isPresent(sha256));
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

/** Can't look at what is there once its index is written. */
class BlindWriter extends CheckpointFiles {
  private isBlind = false;

  override async write(content: Uint8Array): Promise<FileRef> {
    const ref = await super.write(content);
    this.isBlind = true;
    return ref;
  }

  protected override async isPresent(sha256: string): Promise<boolean> {
    if (this.isBlind) throw Object.assign(new Error('the disk is away'), { code: 'EIO' });
    return super.isPresent(sha256);
  }
}

/** Loses its first shard before it looks whether all are there. */
class LosingWriter extends CheckpointFiles {
  override async write(content: Uint8Array): Promise<FileRef> {
    const ref = await super.write(content);
    const [, first] = await this.filesOf(ref);
    await this.removeFile(first.sha256);
    return ref;
  }
}

/** Makes everything unfinished as old as what is abandoned, and has a process write. */
async function removeAbandonedBy(writer: CheckpointFiles): Promise<FileRef> {
  const hoursAgo = Date.now() / 1000 - 7200;
  for (const name of await readdir(directory))
    if (name.endsWith('.partial')) await utimes(join(directory, name), hoursAgo, hoursAgo);
  return writer.write(Uint8Array.of(1));
}

async function removeAbandoned(): Promise<void> {
  const other = new CheckpointFiles(directory);
  await other.remove((await removeAbandonedBy(other)).sha256);
}

describe('shards of several writers and removers', () => {
  it.each([
    ['first shard', 1],
    ['second shard', 2],
    ['index', 3],
  ])(
    'leave nothing, and take nothing from others, where their writer dies before the %s',
    async (_, step) => {
      const kept = await files.adopt(await shardFiles(files, halves(two(4))), {});
      const before = await files.list();
      // Its first half is the same.
      const shards = await shardFiles(files, halves(two(5)));
      await new DyingWriter(directory, step).adoptUntilDeath(shards);
      await removeAbandoned();
      expect(await files.list()).toEqual(before);
      await files.verify(kept);
      expect((await readdir(directory)).filter((name) => name.endsWith('.partial'))).toEqual([]);
    },
  );

  it('stay where their writer dies after the index', async () => {
    const shards = await shardFiles(files, halves(two(5)));
    await new DyingWriter(directory, 4).adoptUntilDeath(shards);
    await removeAbandoned();
    const index = (await files.list()).find(({ sha256 }) => shards.every((shard) => shard.sha256 !== sha256));
    await files.verify(index ?? shards[0]);
    expect(await files.list()).toHaveLength(3);
  });

  it('are not written where another process removes a shard that it found in no other index', async () => {
    const removed = await files.adopt(await shardFiles(files, halves(two(4))), {});
    const remover = new SlowRemover(directory);
    const removal = remover.remove(removed.sha256);
    await remover.hasLooked;
    const writer = new WaitingWriter(directory, () => {
      remover.goOn();
      return removal;
    });
    const adoption = writer.adopt(await shardFiles(files, halves(two(5))), {});
    await expect(adoption).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_WRITTEN', retriable: true });
    expect(await files.list()).toEqual([]);
    await files.verify(await writer.adopt(await shardFiles(files, halves(two(5))), {}));
  });

  it('stay where their writer can not look whether all are there, also those that were there before', async () => {
    for (let n = 0; n < 2; n++) {
      const blind = new BlindWriter(directory);
      await expect(blind.adopt(await shardFiles(files, halves(two(4))), {})).rejects.toMatchObject({
        code: 'CHECKPOINT_NOT_WRITTEN',
        retriable: true,
      });
      expect(await files.list()).toHaveLength(3);
    }
    await files.verify(await files.adopt(await shardFiles(files, halves(two(4))), {}));
  });

  it('keep an index that was there before where one of them is lost, and lose one that is new', async () => {
    const lose = async () =>
      expect(
        new LosingWriter(directory).adopt(await shardFiles(files, halves(two(4))), {}),
      ).rejects.toMatchObject({
        code: 'CHECKPOINT_NOT_WRITTEN',
        retriable: true,
      });
    await lose();
    expect(await files.list()).toEqual([]);
    const ref = await files.adopt(await shardFiles(files, halves(two(4))), {});
    await lose();
    expect(await files.list()).toHaveLength(2);
    expect(await files.adopt(await shardFiles(files, halves(two(4))), {})).toEqual(ref);
    await files.verify(ref);
  });

  it('that a writer left do not hinder others where they can not be removed', async () => {
    await writeFile(join(directory, 'model.safetensors'), 'of somebody else');
    await new DyingWriter(directory, 3).adoptUntilDeath(await shardFiles(files, halves(two(5))));
    const index = join(directory, `${'0'.repeat(64)}.safetensors`);
    // Reading it fails, so nobody knows which shards it lists.
    await mkdir(index);
    await removeAbandonedBy(files);
    expect((await readdir(directory)).filter((name) => name.endsWith('.partial'))).toHaveLength(1);
    await rm(index, { recursive: true });
    await removeAbandonedBy(files);
    expect(await files.list()).toHaveLength(1);
    expect(await readFile(join(directory, 'model.safetensors'), 'utf8')).toBe('of somebody else');
  });
});
