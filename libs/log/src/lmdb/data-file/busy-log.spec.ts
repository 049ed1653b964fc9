import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleForChild, type ChildModule } from '../../contract/child-module.contract.js';
import { openLmdbLog } from '../open-lmdb-log.js';
import { checkDataFile } from './check-data-file.js';

describe('the check of a data file that another process writes to', () => {
  let path: string;
  let module: ChildModule;
  let writer: ChildProcess;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'retrace-busy-'));
    const log = await openLmdbLog({ path, createdBy: 'test' });
    for (let n = 0; n < 60; n++)
      await log.append(
        'trajectories',
        0,
        Array.from({ length: 200 }, () => new Uint8Array(400)),
      );
    await log.close();
    module = await bundleForChild(new URL('./busy-process.contract.ts', import.meta.url));
    writer = fork(module.path, [path], { stdio: 'inherit' });
    await once(writer, 'message');
  });

  afterEach(async () => {
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    await module.remove();
    await rm(path, { recursive: true });
  });

  it('finds no damage in pages that were used again while it read them', () => {
    for (let n = 0; n < 400; n++) checkDataFile(path);
    expect(writer.exitCode).toBeNull();
  });

  it('finds none in the whole file, which is checked in a snapshot before records are released', async () => {
    for (let n = 0; n < 30; n++) {
      const log = await openLmdbLog({ path, createdBy: 'test' });
      expect(await log.release?.('trajectories', 0, [{ from: 10 * n, end: 10 * n + 10 }])).toBe(
        n === 0 ? 9 : 10,
      );
      await log.close();
    }
    expect(writer.exitCode).toBeNull();
  });
});
