import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RoleMessage } from '@retrace/process';
import { createStoreClient, MIGRATIONS_DIRECTORY } from '@retrace/store';
import { openLmdbLog } from '@retrace/log/lmdb';
import { startStoreServer, type StoreServer } from '@retrace/store-server';
import type { Health } from '../apps/api/src/health/health.dto.js';
import { RunRecorder } from '../apps/api/src/testing/run-recorder.js';
import { installation } from '../apps/cli/src/installation.js';

/** The API as the supervisor starts it. */
class Role {
  readonly messages: RoleMessage[] = [];
  output = '';
  readonly exited: Promise<number | null>;

  constructor(readonly child: ChildProcess) {
    child.on('message', (message) => this.messages.push(message as RoleMessage));
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.exited = once(child, 'exit').then(([code]) => code as number | null);
  }

  async said(type: RoleMessage['type']): Promise<RoleMessage> {
    for (;;) {
      const message = this.messages.find((each) => each.type === type);
      if (message) return message;
      if (this.child.exitCode !== null) throw new Error(`ended before it said ${type}: ${this.output}`);
      await once(this.child, 'message');
    }
  }
}

let directory: string;
let store: StoreServer;
const roles: Role[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-api-process-'));
  store = await startStoreServer({
    dataDirectory: join(directory, 'store'),
    port: 0,
    users: [{ name: 'retrace', password: 'secret', access: 'full' }],
  });
});

afterEach(() => {
  for (const { child } of roles.splice(0)) child.kill('SIGKILL');
});

afterAll(async () => {
  await store?.close();
  await rm(directory, { recursive: true });
});

function start(environment: Record<string, string> = {}): Role {
  const child = fork(installation.program('api'), {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
    env: {
      PATH: process.env.PATH,
      RETRACE_LOG_DIRECTORY: join(directory, 'log'),
      RETRACE_STORE_URL: store.url,
      RETRACE_STORE_USER: 'retrace',
      RETRACE_STORE_PASSWORD: 'secret',
      RETRACE_STORE_READONLY_USER: 'retrace_readonly',
      RETRACE_STORE_READONLY_PASSWORD: 'secret',
      RETRACE_API_PORT: '0',
      RETRACE_MIGRATIONS_DIRECTORY: MIGRATIONS_DIRECTORY,
      ...environment,
    },
  });
  const role = new Role(child);
  roles.push(role);
  return role;
}

/** An address behind which the store is, until the line is cut. */
async function openLine(target: string): Promise<{ readonly url: string; readonly cut: () => void }> {
  const { hostname, port } = new URL(target);
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
}

async function occupyPort(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}

describe('the API as a process', () => {
  it('reports ready, sends heartbeats, and exits with code 0 on SIGTERM', async () => {
    const role = start();
    const ready = await role.said('ready');
    const { url } = ready as Extract<RoleMessage, { type: 'ready' }>;
    expect(((await (await fetch(`${url ?? ''}/api/health`)).json()) as Health).status).toBe('ok');
    await role.said('heartbeat');
    role.child.kill('SIGTERM');
    expect(await role.exited).toBe(0);
  });

  it('copies the whole log into the store before it exits', async () => {
    const role = start();
    await role.said('ready');
    const log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'test' });
    const run = new RunRecorder(log, { groupsPerRound: 40 });
    await run.start();
    const played = await run.round();
    await run.logMetrics({ source: 'trainer', step: 99, names: ['last'], values: Float64Array.of(1) });
    role.child.kill('SIGTERM');
    expect(await role.exited).toBe(0);
    await log.close();
    const client = createStoreClient({ url: store.url, username: 'retrace', password: 'secret' });
    const params = { runId: run.runId };
    const rows = await client.queryRows(
      `SELECT (SELECT count() FROM episodes WHERE run_id = {runId:String} AND sealed) AS numSealed,
              (SELECT count() FROM metrics WHERE run_id = {runId:String} AND name = 'last') AS numLast`,
      { params },
    );
    await client.close();
    expect(rows).toEqual([{ numSealed: played.length, numLast: 1 }]);
  });

  it('exits within seconds although the store is unreachable', { tags: 'release' }, async () => {
    const line = await openLine(store.url);
    const logDirectory = join(directory, 'other-log');
    const role = start({ RETRACE_STORE_URL: line.url, RETRACE_LOG_DIRECTORY: logDirectory });
    await role.said('ready');
    line.cut();
    const log = await openLmdbLog({ path: logDirectory, createdBy: 'test' });
    await new RunRecorder(log).start();
    role.child.kill('SIGTERM');
    expect(await role.exited).toBe(0);
    await log.close();
    expect(role.output).toContain('stopped before the store had all of the log (after 5 s)');
  });

  it('exits when its supervisor has exited', { tags: 'release' }, async () => {
    const role = start();
    await role.said('ready');
    role.child.disconnect();
    expect(await role.exited).toBe(0);
  });

  it('serves while the store is unavailable, and reports it', async () => {
    const { port, server } = await occupyPort();
    server.close();
    const role = start({ RETRACE_STORE_URL: 'http://127.0.0.1:1', RETRACE_API_PORT: String(port) });
    const health = await untilAnswers<Health>(`http://127.0.0.1:${port}/api/health`);
    expect(health).toMatchObject({ status: 'starting', store: { status: 'degraded', state: 'starting' } });
    const list = await fetch(`http://127.0.0.1:${port}/api/runs`);
    expect(list.status).toBe(503);
    expect(list.headers.get('retry-after')).toBe('2');
    expect(await list.json()).toMatchObject({ code: 'STORE_STARTING' });
    role.child.kill('SIGTERM');
    expect(await role.exited).toBe(0);
  });

  it('exits with one sentence when the port is in use', { tags: 'release' }, async () => {
    const { port, server } = await occupyPort();
    const role = start({ RETRACE_API_PORT: String(port) });
    expect(await role.exited).toBe(1);
    expect(role.output.trim()).toBe(
      `error port ${port} on 127.0.0.1 is in use by another program; choose another with --port`,
    );
    server.close();
  });

  it('names every invalid variable, but never prints a password', async () => {
    const role = start({ RETRACE_API_PORT: '99999', RETRACE_STORE_URL: 'somewhere' });
    expect(await role.exited).toBe(1);
    expect(role.output).toContain('RETRACE_API_PORT: got "99999", ');
    expect(role.output).toContain('RETRACE_STORE_URL: got "somewhere", ');
    expect(role.output).not.toContain('secret');
  });

  it('beyond loopback exits with code 2 and one sentence while there is no key, and listens on no port', async () => {
    const role = start({
      RETRACE_API_HOST: '0.0.0.0',
      RETRACE_API_KEYS_DIRECTORY: join(directory, 'no-keys'),
    });
    expect(await role.exited).toBe(2);
    expect(role.output.trim()).toBe(
      'error the API would listen on 0.0.0.0, and there is no API key that can be used; make one with "retrace keys create --name admin --scopes admin", or listen on 127.0.0.1',
    );
    const without = start({ RETRACE_API_HOST: '::' });
    expect(await without.exited).toBe(2);
    expect(without.output).toMatch(/name their directory by RETRACE_API_KEYS_DIRECTORY/);
  });

  it(
    'beyond loopback makes a first key where it may, says in which file it is, and never prints it',
    { tags: 'release' },
    async () => {
      const keyFile = join(directory, 'first-key');
      const environment = {
        RETRACE_API_HOST: '0.0.0.0',
        RETRACE_API_KEYS_DIRECTORY: join(directory, 'keys'),
        RETRACE_API_FIRST_KEY_FILE: keyFile,
      };
      const role = start(environment);
      const { url = '' } = (await role.said('ready')) as Extract<RoleMessage, { type: 'ready' }>;
      const address = url.replace('0.0.0.0', '127.0.0.1');
      const key = (await readFile(keyFile, 'utf8')).trim();
      expect(role.output).toContain(
        `info API key ${key.slice(0, 20)} with scope admin is in the file ${keyFile}`,
      );
      const get = (path: string, authorization: string) =>
        fetch(`${address}${path}`, { headers: authorization === '' ? {} : { authorization } });
      for (const path of ['/api/health', '/metrics', '/api/runs', '/api/session']) {
        expect((await get(path, '')).status, path).toBe(path === '/api/session' ? 200 : 401);
        expect((await get(path, `Bearer ${key}`)).status, path).toBe(200);
      }
      expect((await get('/healthz', '')).status).toBe(200);
      await get(`/api/runs/${key}`, `Bearer ${key}`);
      role.child.kill('SIGTERM');
      expect(await role.exited).toBe(0);
      expect(role.output).not.toContain(key.slice(21));

      const again = start(environment);
      await again.said('ready');
      expect(again.output).not.toContain('API key');
      expect((await readFile(keyFile, 'utf8')).trim()).toBe(key);
    },
  );

  it('exits when the store refuses the password', { tags: 'release' }, async () => {
    const role = start({ RETRACE_STORE_PASSWORD: 'wrong' });
    expect(await role.exited).toBe(1);
    expect(role.output).toMatch(/refused the user or password/);
  });
});

async function untilAnswers<Answer>(url: string): Promise<Answer> {
  for (const deadline = Date.now() + 20_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    try {
      return (await (await fetch(url)).json()) as Answer;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}
