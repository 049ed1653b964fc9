import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentDoor } from './agent-door.js';

const script = fileURLToPath(new URL('../supervisor/fixtures/child.mjs', import.meta.url));
const CALL = 'GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';

describe('AgentDoor', () => {
  let directory: string;
  let notes: string;
  /** Stands in for the proxy of the process, whose child only tells its address. */
  let proxy: Server;
  let door: AgentDoor;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-door-'));
    notes = join(directory, 'notes');
    proxy = createServer((request, response) => response.end(`answer to ${request.url}`));
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    door = await open({});
  });

  afterEach(async () => {
    await door.close();
    proxy.close();
    rmSync(directory, { recursive: true });
  });

  function open({ port = 0, idleMs = 60_000, childUrl = portUrl(proxy) }): Promise<AgentDoor> {
    return AgentDoor.open({
      ...{ port, idleMs, lockFileDescriptors: [] },
      log: { write: () => undefined, progress: () => undefined },
      role: {
        ...{
          name: 'agents',
          script,
          readyTimeoutMs: 20_000,
          heartbeatTimeoutMs: 20_000,
          stopTimeoutMs: 20_000,
        },
        environment: () => ({ CHILD_NAME: 'agents', CHILD_NOTES: notes, CHILD_URL: childUrl }),
      },
    });
  }

  const call = async (said = CALL, to = door) => {
    const socket = connect(Number(new URL(to.url).port), '127.0.0.1');
    socket.write(said);
    return text(socket);
  };
  const notesOf = (word: string) =>
    existsSync(notes)
      ? readFileSync(notes, 'utf8')
          .split('\n')
          .filter((line) => line.startsWith(word))
      : [];

  it('takes the next port where another program has the first, and starts nothing before a call', async () => {
    const taken = Number(new URL(door.url).port);
    const next = await open({ port: taken });
    expect(Number(new URL(next.url).port)).toBeGreaterThan(taken);
    await next.close();
    expect(notesOf('start')).toEqual([]);
    expect(await call()).toContain('answer to /v1/models');
    expect(await call()).toContain('answer to /v1/models');
    expect(notesOf('start')).toHaveLength(1);
  });

  it('refuses pages and heads that are too long, and starts nothing for them', async () => {
    const page = CALL.replace('connection', 'sec-fetch-site: cross-site\r\nconnection');
    expect(await call(page)).toMatch(/^HTTP\/1.1 403 [^]*origin_not_allowed/);
    expect(await call(CALL.replace('localhost', 'evil.example'))).toMatch(
      /^HTTP\/1.1 403 [^]*host_not_allowed/,
    );
    expect(await call(CALL.replace('connection', `x: ${'a'.repeat(20_000)}\r\nconnection`))).toMatch(
      /^HTTP\/1.1 431 /,
    );
    expect(notesOf('start')).toEqual([]);
  });

  it('starts another process for a call that comes while an idle one stops, and waits for one when it closes', async () => {
    const idle = await open({ idleMs: 1 });
    await call(CALL, idle);
    // The child writes that it stops, and ends 50 ms later.
    await expect.poll(() => notesOf('stop'), { interval: 1 }).toHaveLength(1);
    expect(await call(CALL, idle)).toContain('answer to /v1/models');
    expect(notesOf('start')).toHaveLength(2);
    await expect.poll(() => notesOf('stop'), { interval: 1 }).toHaveLength(2);
    await idle.close();
    const pid = Number(notesOf('start')[1].split(' ')[2]);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('answers 503 where the process does not take the connection', async () => {
    const free = createServer();
    await once(free.listen(0, '127.0.0.1'), 'listening');
    const childUrl = portUrl(free);
    await new Promise((resolve) => free.close(resolve));
    const broken = await open({ childUrl });
    expect(await call(CALL, broken)).toMatch(/^HTTP\/1.1 503 [^]*proxy_unavailable/);
    await broken.close();
  });
});

function portUrl(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
