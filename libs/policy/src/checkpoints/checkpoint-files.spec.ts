import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PolicyError } from '../policy-error.js';
import { CheckpointFiles } from './checkpoint-files.js';
import { nameContent } from './write-synced.js';
import type { WrittenFile } from './checkpoint-files.js';
import type { FileRef } from './file-ref.js';
import { encodeSafetensors } from '../testing/safetensors.js';

const content = Uint8Array.of(1, 2, 3, 250);
const sha256 = createHash('sha256').update(content).digest('hex');

let directory: string;
let files: CheckpointFiles;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-checkpoints-'));
  files = new CheckpointFiles(join(directory, 'made', 'on', 'demand'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

const pathOf = (name: string) => join(directory, 'made', 'on', 'demand', name);

describe('CheckpointFiles', () => {
  it('names a file by its content and gives it back', async () => {
    const ref = await files.write(content);
    expect(ref).toEqual({ sha256, sizeBytes: 4 });
    expect([...(await files.read(ref))]).toEqual([...content]);
    expect(await files.list()).toEqual([ref]);
  });

  it('takes content in pieces, and leaves nothing where their source fails', async () => {
    async function* pieces(fails: boolean): AsyncGenerator<Uint8Array> {
      yield content.subarray(0, 3);
      await Promise.resolve();
      if (fails) throw new PolicyError('NOT_FINITE', 'a weight is NaN');
      yield content.subarray(3);
    }
    expect(await files.write(pieces(false))).toEqual({ sha256, sizeBytes: 4 });
    await expect(files.write(pieces(true))).rejects.toMatchObject({ code: 'NOT_FINITE' });
    expect(await readdir(pathOf(''))).toEqual([`${sha256}.safetensors`]);
    await files.verify({ sha256, sizeBytes: 4 });
  });

  it('opens a file as soon as it is written, and when it has its own name', async () => {
    const tensor = encodeSafetensors(new Map([['a', { shape: [1], data: Float32Array.of(1) }]]));
    let opened: Promise<number> | undefined;
    const numTensors = async (file: WrittenFile) => {
      const opening = await files.openWritten(file);
      await opening.close();
      return opening.header.entries.size;
    };
    let written: WrittenFile | undefined;
    const ref = await files.write(tensor, (file) => {
      written = file;
      opened = numTensors(file);
    });
    if (written === undefined) throw new Error('the writer did not say that the file is written');
    const scratch = basename(await files.makeScratch());
    expect(written).toEqual({ ...ref, name: expect.stringMatching(/\.partial$/) as string });
    expect(await opened).toBe(1);
    expect(await numTensors(written)).toBe(1);
    for (const name of ['../../elsewhere.partial', `${scratch}/../${sha256}.safetensors`])
      expect(await numTensors({ ...written, name })).toBe(1);
    // As another process wrote it, which is adopted later.
    await writeFile(join(pathOf(scratch), 'weights-1.safetensors'), tensor);
    await files.remove(ref.sha256);
    expect(await numTensors({ ...written, name: `${scratch}/weights-1.safetensors` })).toBe(1);
    const other = { ...written, sha256: '0'.repeat(64) };
    await expect(files.openWritten(other)).rejects.toMatchObject({ code: 'CHECKPOINT_MISSING' });
  });

  it('names content in pieces without storing it', async () => {
    expect(await nameContent([content.subarray(0, 3), content.subarray(3)])).toEqual({
      sha256,
      sizeBytes: 4,
    });
    expect(await files.list()).toEqual([]);
  });

  it('writes the same content once', async () => {
    await Promise.all([files.write(content), files.write(content), files.write(content)]);
    expect(await readdir(pathOf(''))).toEqual([`${sha256}.safetensors`]);
  });

  it('tells a missing file from a corrupt one', async () => {
    const ref = await files.write(content);
    const expectRefusal = async (wanted: FileRef, code: string) => {
      for (const reading of ['read', 'verify', 'open'] as const) {
        await expect(files[reading](wanted)).rejects.toMatchObject({ code });
      }
    };
    await expectRefusal({ ...ref, sha256: '0'.repeat(64) }, 'CHECKPOINT_MISSING');
    await writeFile(pathOf(`${sha256}.safetensors`), Uint8Array.of(1, 2, 3, 251));
    await expectRefusal(ref, 'CHECKPOINT_CORRUPT');
    await writeFile(pathOf(`${sha256}.safetensors`), content.subarray(0, 2));
    await expectRefusal(ref, 'CHECKPOINT_CORRUPT');
  });

  it.each([
    ['a FIFO', (path: string) => execFileSync('mkfifo', [path])],
    ['a device without an end', (path: string) => symlinkSync('/dev/zero', path)],
    ['a directory', (path: string) => mkdirSync(path)],
  ])('refuses %s in place of a file, at once', async (_, place) => {
    const ref = await files.write(content);
    const path = pathOf(`${sha256}.safetensors`);
    await rm(path);
    place(path);
    for (const reading of ['read', 'verify', 'open'] as const) {
      await expect(files[reading](ref)).rejects.toMatchObject({
        code: 'CHECKPOINT_CORRUPT',
        message: `checkpoint file ${sha256} is no regular file; restore it from a backup`,
      });
    }
  });

  it('refuses a socket in place of a file', async () => {
    const ref = await files.write(content);
    await rm(pathOf(`${sha256}.safetensors`));
    // The path of a socket is at most about 100 bytes long.
    const server = createServer().listen(join(directory, 's'));
    await once(server, 'listening');
    symlinkSync(join(directory, 's'), pathOf(`${sha256}.safetensors`));
    await expect(files.verify(ref)).rejects.toMatchObject({ code: 'CHECKPOINT_CORRUPT' });
    server.close();
  });

  it('replaces a corrupt file when its content is written again', async () => {
    const ref = await files.write(content);
    await writeFile(pathOf(`${sha256}.safetensors`), Uint8Array.of(9));
    await files.write(content);
    expect([...(await files.read(ref))]).toEqual([...content]);
  });

  it('removes files, and bears with those that are gone', async () => {
    await files.write(content);
    await files.remove(sha256);
    await files.remove(sha256);
    expect(await files.list()).toEqual([]);
  });

  it('makes its directory again where that was removed', async () => {
    await files.write(content);
    await rm(pathOf(''), { recursive: true });
    const ref = await files.write(content);
    await files.verify(ref);
  });

  it('leaves no file open, however writing ends', async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield content;
      await Promise.resolve();
      throw new PolicyError('NOT_FINITE', 'a weight is NaN');
    }
    const numOpen = () => readdir('/proc/self/fd').then((names) => names.length);
    await files.write(content);
    const before = await numOpen();
    for (let i = 0; i < 20; i++) {
      await files.write(Uint8Array.of(i));
      await expect(files.write(failing())).rejects.toMatchObject({ code: 'NOT_FINITE' });
    }
    expect(await numOpen()).toBeLessThan(before + 10);
  });

  it('lists nothing before the first write', async () => {
    expect(await files.list()).toEqual([]);
  });

  it('never lists the unfinished file of a dead writer, and removes it when it is old', async () => {
    await files.write(content);
    const [old, fresh] = [pathOf('a.partial'), pathOf('b.partial')];
    await writeFile(old, 'x');
    await writeFile(fresh, 'x');
    await utimes(old, 0, 0);
    expect(await files.list()).toHaveLength(1);
    await files.write(Uint8Array.of(5));
    expect((await readdir(pathOf(''))).filter((name) => name.endsWith('.partial'))).toEqual(['b.partial']);
  });

  it('reports a disk that refuses, and leaves nothing behind', async () => {
    await writeFile(join(directory, 'blocked'), '');
    const blocked = new CheckpointFiles(join(directory, 'blocked', 'below-a-file'));
    await expect(blocked.write(content))
      .rejects.toMatchObject({ name: 'Error' })
      .catch(() => undefined);
    expect(await readdir(directory)).toEqual(['blocked']);
  });

  it('refuses a name that is no hash', async () => {
    await expect(files.read({ sha256: '../secret', sizeBytes: 1 })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });
});
