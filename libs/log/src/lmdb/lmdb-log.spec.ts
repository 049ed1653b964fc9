import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundleForChild } from '../contract/child-module.contract.js';
import { describeEventLog } from '../contract/event-log.contract.js';
import { openLmdbLog } from './open-lmdb-log.js';

const createDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'retrace-lmdb-'));

describeEventLog({
  adapter: 'LMDB',
  createLocation: createDirectory,
  removeLocation: (location) => rm(location, { recursive: true, force: true }),
  openLog: (path) => openLmdbLog({ path, createdBy: 'contract', numTrajectoryPartitions: 4 }),
  processModule: new URL('./lmdb-process.contract.ts', import.meta.url),
});

it('LMDB log: a read sees the commit that another process has just made, even in the same turn of the event loop', async () => {
  const path = await createDirectory();
  const child = await bundleForChild(new URL('./append-once-process.contract.ts', import.meta.url));
  const log = await openLmdbLog({ path, createdBy: 'visibility test' });

  const before = log.endOffset('trajectories', 0);
  execFileSync(process.execPath, [child.path, path]);
  const after = log.endOffset('trajectories', 0);

  expect(await Promise.all([before, after])).toEqual([0, 1]);
  await log.close();
  await child.remove();
  await rm(path, { recursive: true, force: true });
});
