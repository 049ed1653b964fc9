import { access, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../testing/temporary-directory.js';
import { runCommand } from './run-command.js';
import { withInstallLock } from './install-lock.js';

async function lockPath(): Promise<string> {
  return join(await temporaryDirectory(), 'install.lock');
}

describe('withInstallLock', () => {
  it('runs one piece of work at a time', async () => {
    const path = await lockPath();
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await sleep(20);
      running--;
    };
    await Promise.all([1, 2, 3].map(() => withInstallLock(path, { heartbeatMs: 10 }, work)));
    expect(most).toBe(1);
  });

  it('reports the process that holds the lock to a waiter', async () => {
    const path = await lockPath();
    const waitedFor: number[] = [];
    await withInstallLock(path, {}, async () => {
      const signal = AbortSignal.timeout(50);
      const waiting = withInstallLock(path, { signal, onWait: (pid) => waitedFor.push(pid) }, sleep);
      await expect(waiting).rejects.toThrow('cancelled');
    });
    expect(waitedFor).toContain(process.pid);
  });

  it('is free again after work that failed', async () => {
    const path = await lockPath();
    const failing = withInstallLock(path, {}, () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    await expect(access(path)).rejects.toThrow('ENOENT');
  });

  it('takes over the lock of a process that has died', async () => {
    const path = await lockPath();
    const { output } = await runCommand(process.execPath, ['-p', 'process.pid']);
    await writeFile(path, JSON.stringify({ pid: Number(output), host: hostname() }));
    expect(await withInstallLock(path, {}, () => Promise.resolve('done'))).toBe('done');
  });

  it('takes over the lock of another machine only after its heartbeats stop', async () => {
    const path = await lockPath();
    await writeFile(path, JSON.stringify({ pid: 1, host: 'another-machine' }));
    const impatient = withInstallLock(path, { heartbeatMs: 60_000, signal: AbortSignal.timeout(50) }, sleep);
    await expect(impatient).rejects.toThrow('cancelled');
    const longAgo = new Date(Date.now() - 3_600_000);
    await utimes(path, longAgo, longAgo);
    expect(await withInstallLock(path, { heartbeatMs: 60_000 }, () => Promise.resolve('done'))).toBe('done');
  });

  it('waits longer than the limit for a process that sends heartbeats', async () => {
    const path = await lockPath();
    let first = true;
    const holder = withInstallLock(path, { heartbeatMs: 25 }, async () => {
      await sleep(1_000);
      first = false;
    });
    await sleep(50);
    await withInstallLock(path, { heartbeatMs: 25 }, () => {
      expect(first).toBe(false);
      return Promise.resolve();
    });
    await holder;
  });
});
