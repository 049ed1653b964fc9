import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
const quick: RestartLimits = {
  firstDelayMs: 10,
  maxDelayMs: 50,
  healthyAfterMs: 60_000,
  maxSameSentence: 3,
  maxFailures: 6,
};

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
      lockFileDescriptor: null,
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
    restart: quick,
    ...more,
  });
  const readNotes = () => readFileSync(notes, 'utf8').trim().split('\n');
  const numStarts = () => readNotes().filter((note) => note.startsWith('start')).length;
  const until = async (condition: () => boolean) => {
    for (let i = 0; i < 800 && !condition(); i++) await sleep(25);
    expect(condition()).toBe(true);
  };

  it('stops roles in the reverse order of their start, each after the other is gone', async () => {
    for (const name of ['store', 'api', 'trainer']) await supervisor.start(role(name, 'work'));
    await supervisor.stop();
    expect(readNotes().filter((note) => note.startsWith('stop'))).toEqual([
      'stop trainer',
      'stop api',
      'stop store',
    ]);
  });

  it('starts a killed role again', async () => {
    await supervisor.start(role('worker', 'work'));
    process.kill(supervisor.pids().worker!, 'SIGKILL');
    await until(() => numStarts() === 2);
    await until(() => supervisor.pids().worker !== undefined);
    expect(entries).toContainEqual(
      expect.objectContaining({
        role: 'worker',
        level: 'warn',
        message: 'was ended by SIGKILL; starts again in 0.01 s',
      }),
    );
  });

  it('gives up on a role that fails again and again with the same sentence, and says that sentence', async () => {
    const start = supervisor.start(role('trainer', 'fail'));
    await expect(start).rejects.toMatchObject({
      code: 'ROLE_FAILED',
      message: 'trainer failed: Error: the disk at /data is full',
    });
    expect(numStarts()).toBe(3);
    expect((await supervisor.failure).message).toContain('the disk at /data is full');
  });

  it('starts a role of a group again for as long as another one of the group goes on', async () => {
    await supervisor.start(role('collector', 'work', { group: 'collectors' }));
    const second = supervisor.start(role('collector-2', 'fail', { group: 'collectors' }));
    second.catch(() => undefined);
    await until(() => numStarts() >= 5);
    expect(entries.map(({ message }) => message)).toContain(
      'fails again and again (Error: the disk at /data is full); starts again in 0.05 s, the others go on',
    );
    const failed = supervisor.failure.then(({ message }) => message);
    expect(await Promise.race([failed, Promise.resolve('goes on')])).toBe('goes on');
    expect(supervisor.pids().collector).toBeDefined();
  });

  it('gives up on a group once none of it goes on', async () => {
    const starts = ['collector', 'collector-2'].map((name) =>
      supervisor.start(role(name, 'fail', { group: 'collectors' })).catch(() => undefined),
    );
    expect((await supervisor.failure).message).toContain('the disk at /data is full');
    supervisor.killAll();
    await Promise.all(starts);
  });

  it('lets a role finish only when its work is done', async () => {
    let isDone = false;
    await supervisor.start(role('trainer', 'finish', { mayFinish: () => isDone }));
    await until(() => numStarts() >= 2);
    isDone = true;
    await supervisor.whenEnded('trainer');
  });

  it('ends and restarts a role whose event loop no longer turns', async () => {
    await supervisor.start(role('collector', 'freeze', { heartbeatTimeoutMs: 300 }));
    await until(() => numStarts() === 2);
    expect(entries.map(({ message }) => message)).toContain(
      'gave no sign of life for 0.3 s; starts again in 0.01 s',
    );
  });

  it('gives up on a role that never gets ready', async () => {
    await expect(supervisor.start(role('api', 'never-ready', { readyTimeoutMs: 200 }))).rejects.toThrow(
      'api failed: was not ready within 0.2 s',
    );
  });

  it('kills a role that does not stop in time', async () => {
    await supervisor.start(role('collector', 'ignoreTerm', { stopTimeoutMs: 200 }));
    const started = Date.now();
    await supervisor.stop();
    expect(Date.now() - started).toBeLessThan(3000);
    expect(entries.map(({ message }) => message)).toContain('did not stop in time; killed');
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

  it('keeps a role behind others in priority, in every life', async () => {
    await supervisor.start(role('trainer', 'work', { niceness: 5 }));
    await supervisor.start(role('api', 'work'));
    const behind = Math.min(getPriority() + 5, 19);
    const { trainer, api } = supervisor.pids();
    expect([getPriority(trainer), getPriority(api)]).toEqual([behind, getPriority()]);
    process.kill(trainer!, 'SIGKILL');
    await until(() => numStarts() === 3);
    expect(getPriority(supervisor.pids().trainer)).toBe(behind);
  });

  it('passes the lines of its roles on, without their own prefix', async () => {
    await supervisor.start(role('worker', 'work'));
    await until(() => entries.length > 0);
    expect(entries[0]).toEqual({ role: 'worker', level: 'info', message: 'at work' });
  });

  it('restarts a role whose health address stops answering', async () => {
    let isHealthy = true;
    const server = createServer((_, response) => response.writeHead(isHealthy ? 200 : 503).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
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
