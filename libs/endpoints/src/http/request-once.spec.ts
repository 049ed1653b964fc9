import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { requestOnce, type Attempt } from './request-once.js';

describe('requestOnce', () => {
  let server: Server;
  let connections: Pool;
  let numClosed = 0;

  afterEach(async () => {
    await connections.destroy();
    server.close();
  });

  /** Starts a server, and returns a function that asks it over one connection. */
  async function serve(answer: (response: ServerResponse) => void) {
    numClosed = 0;
    server = createServer((_, response) => {
      answer(response);
    });
    server.on('connection', (socket) => socket.on('close', () => (numClosed += 1)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    connections = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 1 });
    const parts = { url: 'http://here:1', connections, basePath: '', maxAnswerBytes: 1_000 };
    return (attempt: Partial<Attempt> = {}) =>
      requestOnce(parts, { path: '/', timeoutMs: 5_000, ...attempt }).catch((error: unknown) => error);
  }
  const writeHalf = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-length': '10' }).write('half');
  };

  it('joins the parts of an answer, also where one breaks a character', async () => {
    const [first, second] = [Buffer.from('ünï').subarray(0, 1), Buffer.from('ünï').subarray(1)];
    const ask = await serve((response) => {
      response.write(first, () => setTimeout(() => response.end(second), 20));
    });
    expect(await ask()).toBe('ünï');
  });

  it('ends an answer that is on its way when its signal aborts, and its connection', async () => {
    const ask = await serve(writeHalf);
    const stop = new AbortController();
    setTimeout(() => {
      stop.abort(new Error('stopped'));
    }, 30);
    expect(await ask({ signal: stop.signal })).toMatchObject({ message: 'stopped' });
    await vi.waitUntil(() => numClosed === 1, { timeout: 120_000 });
  });

  it('ends an answer that is on its way after its time, and one that waits for the connection', async () => {
    const ask = await serve(writeHalf);
    const faults = await Promise.all([ask({ timeoutMs: 60 }), ask({ timeoutMs: 30 })]);
    expect(faults).toMatchObject([
      { code: 'TIMEOUT', message: 'no answer within the timeout of 60 ms' },
      { code: 'TIMEOUT', message: 'no answer within the timeout of 30 ms' },
    ]);
  });

  it('takes an answer that came in time while the process was busy', async () => {
    const program = `
      const server = require('node:http').createServer((_, response) => {
        setTimeout(() => response.end('in time'), 100);
      });
      server.listen(0, '127.0.0.1', () => process.send(server.address().port));
    `;
    const child = spawn(process.execPath, ['-e', program], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    onTestFinished(() => void child.kill());
    const [port] = (await once(child, 'message')) as [number];
    server = createServer();
    connections = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
    const parts = { url: 'http://here:1', connections, basePath: '', maxAnswerBytes: 1_000 };
    await requestOnce(parts, { path: '/', timeoutMs: 5_000 });
    const asking = requestOnce(parts, { path: '/', timeoutMs: 900 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    // Timers are due first after this.
    await new Promise((resolve) => setImmediate(resolve));
    for (const endMs = performance.now() + 1_200; performance.now() < endMs;);
    expect(await asking).toBe('in time');
  });

  it('gives the connection to the next request after one that had ended while it waited', async () => {
    let numAsked = 0;
    const ask = await serve((response) => {
      numAsked += 1;
      setTimeout(() => response.end('whole'), 60);
    });
    const answers = await Promise.all([ask(), ask({ timeoutMs: 20 }), ask()]);
    expect(answers).toMatchObject(['whole', { code: 'TIMEOUT' }, 'whole']);
    expect(numAsked).toBe(2);
  });

  it('says that an answer broke off', async () => {
    const ask = await serve((response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half', () => response.destroy());
    });
    expect(await ask()).toMatchObject({ code: 'UNREACHABLE', message: 'other side closed' });
  });

  it('asks nothing when its signal has aborted', async () => {
    const ask = await serve((response) => response.end());
    expect(await ask({ signal: AbortSignal.abort(new Error('stopped')) })).toMatchObject({
      message: 'stopped',
    });
    expect(numClosed).toBe(0);
  });
});
