import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbLog } from './open-lmdb-log.js';

/** Kind of a mutex of glibc's that processes share and that survives the death of its owner (ROBUST 16, PSHARED 128). */
const ROBUST_SHARED = 144;
const DESTROYED = -1;

/** Opens the environment with the driver alone, and keeps it open. */
const HOLDER = `
  import { open } from 'lmdb';
  open({ path: process.argv[1], noSubdir: false });
  process.stdout.write('open');
  setInterval(() => {}, 1000);
`;

describe('opening of an LMDB environment', () => {
  let path: string;
  let holder: ChildProcess | undefined;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'retrace-open-'));
  });

  afterEach(async () => {
    holder?.kill('SIGKILL');
    await rm(path, { recursive: true });
  });

  it.runIf(process.platform === 'linux')(
    'makes new locks where the last process destroyed them as this one opened',
    async () => {
      holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, path], {
        cwd: import.meta.dirname,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      if (holder.stdout === null) throw new Error('the holder has no output');
      await once(holder.stdout, 'data');
      expect(await destroyLocks(join(path, 'lock.mdb'))).toBeGreaterThanOrEqual(2);

      // Opening waits synchronously, so that another process ends the holder meanwhile.
      spawn('sh', ['-c', `sleep 0.1; kill -9 ${holder.pid}`]);
      const log = await openLmdbLog({ path, createdBy: 'test' });
      expect(await log.append('trajectories', 0, [Uint8Array.of(1)])).toEqual({ firstOffset: 0 });
      await log.close();
    },
  );
});

/** Marks the mutexes in a lock file as destroyed, as `pthread_mutex_destroy` does, and returns how many there are. */
async function destroyLocks(lockFile: string): Promise<number> {
  const file = await open(lockFile, 'r+');
  const { buffer } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
  const kinds = Array.from({ length: 1024 }, (_, i) => 4 * i).filter(
    (at) => buffer.readInt32LE(at) === ROBUST_SHARED,
  );
  for (const at of kinds) {
    buffer.writeInt32LE(DESTROYED, at);
    await file.write(buffer, at, 4, at);
  }
  await file.close();
  return kinds.length;
}
