import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogEntry } from './log-stream.js';
import type { RestartLimits } from './restart-policy.js';
import type { RoleDefinition } from './role.js';
import { Supervisor } from './supervisor.js';

const script = fileURLToPath(new URL('fixtures/child.mjs', import.meta.url));
const QUICK: RestartLimits = {
  firstDelayMs: 10,
  maxDelayMs: 50,
  healthyAfterMs: 60_000,
  maxSameSentence: 3,
  maxFailures: 6,
};

/** How Linux names the session of a process for its scheduler, with its priority; null where it shares no processors among sessions. */
function sessionOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/autogroup`, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

describe('Supervisor', () => {
  let directory: string;
  let notes: string;
  let entries: LogEntry[];
  let supervisor: Supervisor;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-supervisor-'));
    notes = join(directory, 'notes');
    entries = [];
    supervisor = new Supervisor({
      log: { write: (entry) => entries.push(entry), progress: () => undefined },
      lockFileDescriptors: [],
    });
  });

  afterEach(async () => {
    supervisor.killAll();
    await supervisor.stop();
    rmSync(directory, { recursive: true });
  });

  const role = (name: string, behavior: string, more: Partial<RoleDefinition> = {}): RoleDefinition => ({
    name,
    script,
    environment: () => ({ CHILD_NAME: name, CHILD_BEHAVIOR: behavior, CHILD_NOTES: notes }),
    readyTimeoutMs: 5000,
    heartbeatTimeoutMs: 5000,
    stopTimeoutMs: 5000,
    restart: QUICK,
    ...more,
  });
  const readNotes = () => readFileSync(notes, 'utf8').trim().split('\n');
  const numStarts = () => readNotes().filter((note) => note.startsWith('start')).length;
  const until = async (condition: () => boolean) => {
    for (let i = 0; i < 800 && !condition(); i++) await sleep(25);
    expect(condition()).toBe(true);
  };

  it('stops roles one after the other, in the reverse order of their start', async () => {
    for (const name of ['store', 'api', 'trainer']) await supervisor.start(role(name, 'work'));
    await supervisor.stop();
    expect(readNotes().filter((note) => note.startsWith('stop'))).toEqual([
      'stop trainer',
      'stop api',
      'stop store',
    ]);
  });

  it('shows the warnings and alarms that a role sends', async () => {
    await supervisor.start(role('trainer', 'warn'));
    await until(() => entries.length === 2);
    const from = { role: 'trainer', isRecorded: true };
    expect(entries).toEqual([
      { ...from, level: 'warn', message: 'update 3: 2 rewards are missing' },
      { ...from, level: 'error', message: 'update 3: nothing was trained' },
    ]);
  });

  it('restarts a killed role', async () => {
    await supervisor.start(role('worker', 'work'));
    process.kill(supervisor.pids().worker!, 'SIGKILL');
    await until(() => numStarts() === 2);
    await until(() => supervisor.pids().worker !== undefined);
    expect(entries).toContainEqual(
      expect.objectContaining({
        role: 'worker',
        level: 'warn',
        message: 'was killed by SIGKILL; restarting in 0.01 s',
      }),
    );
  });

  it('gives up on a role that keeps failing with the same sentence, and reports that sentence', async () => {
    const start = supervisor.start(role('trainer', 'fail'));
    await expect(start).rejects.toMatchObject({
      code: 'ROLE_FAILED',
      message: 'trainer failed: Error: the disk at /data is full',
    });
    expect(numStarts()).toBe(3);
    expect((await supervisor.failure).message).toContain('the disk at /data is full');
  });

  it('keeps restarting a role while another role of its group works', async () => {
    await supervisor.start(role('collector', 'work', { group: 'collectors' }));
    const second = supervisor.start(role('collector-2', 'fail', { group: 'collectors' }));
    second.catch(() => undefined);
    await until(() => numStarts() >= 5);
    expect(entries.map(({ message }) => message)).toContain(
      'keeps failing (Error: the disk at /data is full); restarting in 0.05 s while the others continue',
    );
    const failed = supervisor.failure.then(({ message }) => message);
    expect(await Promise.race([failed, Promise.resolve('goes on')])).toBe('goes on');
    expect(supervisor.pids().collector).toBeDefined();
  });

  it('starts a role again however it ends while others go on without it, and then gives up as always', async () => {
    let othersGoOn = true;
    supervisor = new Supervisor({
      log: { write: (entry) => entries.push(entry), progress: () => undefined },
      lockFileDescriptors: [],
      othersGoOn: () => othersGoOn,
    });
    const store = supervisor.start(role('store', 'fail-for-good'));
    store.catch(() => undefined);
    await until(() => existsSync(notes) && numStarts() > QUICK.maxFailures + 2);
    expect(entries.at(-1)).toMatchObject({ role: 'store', level: 'warn' });
    othersGoOn = false;
    await expect(store).rejects.toMatchObject({ code: 'ROLE_FAILED' });
    await expect(supervisor.failure).resolves.toMatchObject({ code: 'ROLE_FAILED' });
  });

  it('never restarts a role that ended for good, though another role of its group works', async () => {
    await supervisor.start(role('collector', 'work', { group: 'collectors' }));
    const second = supervisor.start(role('collector-2', 'fail-for-good', { group: 'collectors' }));
    await expect(second).rejects.toThrow('collector-2 failed: Error: the environment fails');
    expect((await supervisor.failure).message).toContain('the environment fails');
    expect(numStarts()).toBe(2);
  });

  it('gives up on a group once all of its roles have failed', async () => {
    const starts = ['collector', 'collector-2'].map((name) =>
      supervisor.start(role(name, 'fail', { group: 'collectors' })).catch(() => undefined),
    );
    expect((await supervisor.failure).message).toContain('the disk at /data is full');
    supervisor.killAll();
    await Promise.all(starts);
  });

  it('restarts a role that exits with 0 before its work is done, and lets it finish afterwards', async () => {
    let isDone = false;
    await supervisor.start(role('trainer', 'finish', { mayFinish: () => isDone }));
    await until(() => numStarts() >= 2);
    isDone = true;
    await supervisor.whenEnded('trainer');
  });

  it('kills and restarts a role whose event loop is blocked', async () => {
    await supervisor.start(role('collector', 'freeze', { heartbeatTimeoutMs: 300 }));
    await until(() => numStarts() === 2);
    expect(entries.map(({ message }) => message)).toContain(
      'did not respond for 0.3 s; restarting in 0.01 s',
    );
  });

  it('gives up on a role that never becomes ready', async () => {
    await expect(supervisor.start(role('api', 'never-ready', { readyTimeoutMs: 200 }))).rejects.toThrow(
      'api failed: was not ready within 0.2 s',
    );
  });

  it('kills a role that does not stop in time', async () => {
    await supervisor.start(role('collector', 'ignoreTerm', { stopTimeoutMs: 200 }));
    const started = Date.now();
    await supervisor.stop();
    expect(Date.now() - started).toBeLessThan(3000);
    expect(entries.map(({ message }) => message)).toContain('did not stop in time and was killed');
  });

  it('keeps a restarted server at the address that its first life had', async () => {
    const environments: (string | undefined)[] = [];
    await supervisor.start(
      role('store', 'work', {
        environment: (firstReady) => {
          environments.push(firstReady?.url);
          return {
            CHILD_NAME: 'store',
            CHILD_BEHAVIOR: 'work',
            CHILD_NOTES: notes,
            CHILD_URL: 'http://127.0.0.1:4711',
          };
        },
      }),
    );
    process.kill(supervisor.pids().store!, 'SIGKILL');
    await until(() => environments.length === 2);
    expect(environments).toEqual([undefined, 'http://127.0.0.1:4711']);
  });

  it('gives a role its lower priority at each start', async () => {
    await supervisor.start(role('trainer', 'work', { niceness: 5 }));
    await supervisor.start(role('api', 'work'));
    const behind = Math.min(getPriority() + 5, 19);
    const { trainer, api } = supervisor.pids();
    expect([getPriority(trainer), getPriority(api)]).toEqual([behind, getPriority()]);
    process.kill(trainer!, 'SIGKILL');
    await until(() => numStarts() === 3);
    expect(getPriority(supervisor.pids().trainer)).toBe(behind);
  });

  it.skipIf(sessionOf(process.pid) === null)(
    'gives the session of a role its lower priority, where processors are shared among sessions first',
    async () => {
      await supervisor.start(role('trainer', 'work', { niceness: 5 }));
      await supervisor.start(role('api', 'work'));
      const { trainer, api } = supervisor.pids();
      const behind = Math.round(Math.min(getPriority() + 5, 19) / 4);
      await until(() => sessionOf(trainer!)?.endsWith(` nice ${behind}`) === true);
      expect(sessionOf(api!)).toMatch(/ nice 0$/);
    },
  );

  it('logs the lines of its roles without the prefix that they print', async () => {
    await supervisor.start(role('worker', 'work'));
    await until(() => entries.length > 0);
    expect(entries[0]).toEqual({ role: 'worker', level: 'info', message: 'at work' });
  });

  it('restarts a role whose health address stops answering', async () => {
    let isHealthy = true;
    const server = createServer((_, response) => response.writeHead(isHealthy ? 200 : 503).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      await supervisor.start(role('api', 'work', { healthUrl: () => url, healthCheckEveryMs: 20 }));
      await sleep(200);
      expect(numStarts()).toBe(1);
      isHealthy = false;
      await until(() => numStarts() === 2);
    } finally {
      server.close();
    }
  });
});
