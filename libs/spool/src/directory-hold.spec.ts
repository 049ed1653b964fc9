import { once } from 'node:events';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryHold } from './directory-hold.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-hold-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Leaves a socket at a path that nobody listens on. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}-`);
  await once(server, 'listening');
  await rename(`${path}-`, path);
  server.close();
  await once(server, 'close');
}

describe('a hold on a directory', () => {
  it('is for one at a time, and free when the process that had it is gone', async () => {
    const hold = await DirectoryHold.claim(directory, 'tests');
    expect(await DirectoryHold.claim(directory, 'tests')).toBeNull();
    await hold?.release();
    const again = await DirectoryHold.claim(directory, 'tests');
    expect(again).not.toBeNull();
    await again?.release();
    expect(await readdir(directory)).toEqual([]);
  });

  it('is for exactly one of many that find the socket of a process that was killed', async () => {
    for (let round = 0; round < 5; round++) {
      await leaveSocket(join(directory, 'tests.sock'));
      const claims = await Promise.all(
        Array.from({ length: 60 }, () => DirectoryHold.claim(directory, 'tests')),
      );
      const held = claims.filter((hold) => hold !== null);
      expect(held).toHaveLength(1);
      expect(await readdir(directory)).toEqual(['tests.sock']);
      expect(await DirectoryHold.claim(directory, 'tests')).toBeNull();
      await held[0].release();
    }
  });
});
