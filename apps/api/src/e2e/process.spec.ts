import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RoleMessage } from '@retrace/config';
import { MIGRATIONS_DIRECTORY } from '@retrace/trajectory/clickhouse';
import { startStoreServer, type StoreServer } from '@retrace/trajectory/store-server';
import type { Health } from '../health/health.dto.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

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
  expect(existsSync(MAIN), 'build first: npx tsc -b apps/api').toBe(true);
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
  const child = fork(MAIN, {
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

async function occupyPort(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as { port: number }).port, server };
}

describe('the API as a process', () => {
  it('says that it is ready, shows a heartbeat, and ends on SIGTERM with code 0', async () => {
    const role = start();
    const ready = await role.said('ready');
    const { url } = ready as Extract<RoleMessage, { type: 'ready' }>;
    expect(((await (await fetch(`${url ?? ''}/api/health`)).json()) as Health).status).toBe('ok');
    await role.said('heartbeat');
    role.child.kill('SIGTERM');
    expect(await role.exited).toBe(0);
  });

  it('ends when its supervisor is gone', async () => {
    const role = start();
    await role.said('ready');
    role.child.disconnect();
    expect(await role.exited).toBe(0);
  });

  it('serves while the store is away, and says so', async () => {
    const { port, server } = await occupyPort();
    server.close();
    const role = start({ RETRACE_STORE_URL: 'http://127.0.0.1:1', RETRACE_API_PORT: String(port) });
    const health = await untilAnswers<Health>(`http://127.0.0.1:${port}/api/health`);
    expect(health).toMatchObject({ status: 'starting', store: { state: 'starting' } });
    const list = await fetch(`http://127.0.0.1:${port}/api/runs`);
    expect(list.status).toBe(503);
    expect(list.headers.get('retry-after')).toBe('2');
    expect(await list.json()).toMatchObject({ code: 'STORE_STARTING' });
    role.child.kill('SIGTERM');
    expect(await role.exited).toBe(0);
  });

  it('says in one sentence that the port is taken', async () => {
    const { port, server } = await occupyPort();
    const role = start({ RETRACE_API_PORT: String(port) });
    expect(await role.exited).toBe(1);
    expect(role.output.trim()).toBe(
      `error port ${port} on 127.0.0.1 is taken by another program; choose another with --port`,
    );
    server.close();
  });

  it('names the variable that is wrong, and never a password', async () => {
    const role = start({ RETRACE_API_PORT: '99999', RETRACE_STORE_URL: 'somewhere' });
    expect(await role.exited).toBe(1);
    expect(role.output).toContain('RETRACE_API_PORT: got 99999, ');
    expect(role.output).toContain('RETRACE_STORE_URL: got "somewhere", ');
    expect(role.output).not.toContain('secret');
  });

  it('gives up when the store refuses the password', async () => {
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
