import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleForChild } from '../contract/child-module.contract.js';
import { leastShareOfCore } from '../contract/idle-share.contract.js';
import type { DiskFullReport } from './disk-full-process.contract.js';
import { openLmdbLog } from './open-lmdb-log.js';

const run = promisify(execFile);
const CREATED_BY = 'faults test';

describe('openLmdbLog', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'retrace-lmdb-faults-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('refuses a path that is not a directory', async () => {
    const path = join(directory, 'file');
    await writeFile(path, '');
    await expect(openLmdbLog({ path, createdBy: CREATED_BY })).rejects.toMatchObject({
      name: 'LogError',
      code: 'LOG_NOT_WRITABLE',
      message: expect.stringContaining(path) as string,
    });
  });

  it('refuses a directory whose file is not an LMDB file', async () => {
    await writeFile(join(directory, 'data.mdb'), 'not a database'.repeat(1000));
    await expect(openLmdbLog({ path: directory, createdBy: CREATED_BY })).rejects.toMatchObject({
      code: 'LOG_CORRUPT',
    });
  });

  it('refuses a number of partitions other than that of the existing log, and accepts the right one', async () => {
    const log = await openLmdbLog({ path: directory, createdBy: CREATED_BY, numTrajectoryPartitions: 2 });
    expect(log.numPartitions('trajectories')).toBe(2);
    await log.close();
    await expect(
      openLmdbLog({ path: directory, createdBy: CREATED_BY, numTrajectoryPartitions: 3 }),
    ).rejects.toMatchObject({
      code: 'LOG_INCOMPATIBLE',
      message: expect.stringContaining('numTrajectoryPartitions is 3; must be 2') as string,
    });
    const again = await openLmdbLog({ path: directory, createdBy: CREATED_BY });
    expect(again.numPartitions('trajectories')).toBe(2);
    await again.close();
  });

  it.each([0, 1.5, 129])('refuses %d partitions', async (numTrajectoryPartitions) => {
    await expect(
      openLmdbLog({ path: directory, createdBy: CREATED_BY, numTrajectoryPartitions }),
    ).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });
});

/** A limit on the file size makes writes incomplete, as a full disk does, and any user can set it in a POSIX shell. */
describe.skipIf(process.platform === 'win32')('a log whose file may not grow', () => {
  it('rejects every append with a retriable error that is printed once, and keeps the acknowledged records', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'retrace-lmdb-full-'));
    const child = await bundleForChild(new URL('./disk-full-process.contract.ts', import.meta.url));
    try {
      const limited = `trap '' XFSZ; ulimit -f 2048; exec "$0" "$1" "$2"`;
      const { stdout, stderr } = await run('bash', ['-c', limited, process.execPath, child.path, directory]);
      const { numAcknowledged, failures } = JSON.parse(stdout) as DiskFullReport;
      expect(numAcknowledged).toBeGreaterThan(5);
      expect(failures).toHaveLength(5);
      for (const failure of failures) {
        expect(failure).toMatchObject({ name: 'LogError', code: 'LOG_FAILED', retriable: true });
        expect(failure.message).toContain('file-size limit');
      }
      expect(stderr).toBe(`${failures[1].message}\nthe event log at ${directory} takes records again\n`);

      const log = await openLmdbLog({ path: directory, createdBy: CREATED_BY });
      const records = await log.read('trajectories', 0, 0, { maxBytes: Infinity });
      expect(records).toHaveLength(numAcknowledged + 1);
      expect(records.slice(0, -1).map(({ bytes }) => [bytes.length, bytes[0], bytes[65_535]])).toEqual(
        Array.from({ length: numAcknowledged }, (_, i) => [64 * 1024, i, i]),
      );
      expect(await log.append('trajectories', 0, [new Uint8Array(1)])).toEqual({
        firstOffset: records.length,
      });
      await log.close();
    } finally {
      await child.remove();
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('an idle follow', () => {
  it('takes less than 2 % of a core', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'retrace-lmdb-idle-'));
    const log = await openLmdbLog({ path: directory, createdBy: CREATED_BY });
    const aborting = new AbortController();
    const following = (async () => {
      for await (const _ of log.follow('control', 0, 1, { signal: aborting.signal }));
    })();
    const share = await leastShareOfCore({ stretches: 4, stretchMs: 500 });
    aborting.abort();
    await following;
    await log.close();
    await rm(directory, { recursive: true, force: true });
    expect(share).toBeLessThan(0.02);
  });
});
