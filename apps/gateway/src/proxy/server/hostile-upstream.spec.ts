import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, StepRecord } from '@retrace/client';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ProxyConfig } from '../proxy-config.js';
import { journalOnDisk } from '../record/journal-files.fixture.js';
import { startProxy, type RunningProxy } from '../start-proxy.js';

const KEY = 'sk-secret-of-the-proxy';
const AGENT_KEY = 'sk-secret-of-the-agent';
const MIB = 1024 ** 2;

let directory: string;
let numStates = 0;
let opened: { close(): Promise<unknown> }[] = [];

/** Takes all records, so that a proxy that is closed has nothing to wait for. */
const retrace = createServer((request, response) => {
  request.resume();
  response.setHeader('content-type', 'application/json').end('{}');
});
let retraceUrl: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-hostile-'));
  await new Promise<void>((resolve) => retrace.listen(0, '127.0.0.1', resolve));
  retraceUrl = `http://127.0.0.1:${(retrace.address() as AddressInfo).port}`;
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of opened.reverse()) await each.close();
  opened = [];
});

afterAll(async () => {
  retrace.close();
  await rm(directory, { recursive: true, force: true });
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({ close: () => new Promise((resolve) => server.close(resolve)) });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (listener: RequestListener) => listen(createServer(listener));

interface Opened extends RunningProxy {
  readonly config: ProxyConfig;
  readonly warnings: string[];
}

async function openProxy(config: Partial<ProxyConfig>): Promise<Opened> {
  const whole: ProxyConfig = {
    upstream: 'http://127.0.0.1:9',
    upstreamKind: 'other',
    upstreamKey: null,
    upstreamTimeoutMs: 60_000,
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    retraceUrl,
    retraceKey: null,
    run: 'hostile',
    stateDirectory: join(directory, `${numStates++}`),
    idleMs: 600_000,
    maxBodyBytes: MIB,
    logprobMode: null,
    ...config,
  };
  const warnings: string[] = [];
  const proxy = await startProxy(whole, { warn: (message) => warnings.push(message) });
  opened.push(proxy);
  return { ...proxy, config: whole, warnings };
}

function ask(proxy: Opened, headers: Record<string, string> = {}, path = '/v1/chat/completions') {
  return fetch(`${proxy.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  });
}

/** Steps as the journal has them. */
/** Steps of the journal, at least one: on a slow disk an answer does not wait for its own. */
function recordedSteps(opened: Opened): Promise<StepRecord[]> {
  return vi.waitFor(
    () => {
      const steps = journaledSteps(opened);
      expect(steps).not.toEqual([]);
      return steps;
    },
    { timeout: 100_000 },
  );
}

function journaledSteps({ config }: Opened): StepRecord[] {
  return journalOnDisk(config.stateDirectory)
    .flatMap((line) => (JSON.parse(line) as { entries: { content: JsonObject }[] }).entries)
    .map(({ content }) => content as unknown as StepRecord)
    .filter(({ type }) => type === 'step');
}

async function healthOf({ url }: Opened): Promise<JsonObject> {
  return (await (await fetch(`${url}/health`)).json()) as JsonObject;
}

describe('an upstream that changes to another protocol', () => {
  it.each([
    ['as it says', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello'],
    ['without saying to which', 'HTTP/1.1 101 Switching Protocols\r\n\r\nhello'],
  ])('gets 502 for an answer, at once, %s', async (_, answer) => {
    const server = createSocketServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.write(answer));
    });
    const proxy = await openProxy({ upstream: await listen(server) });
    const called = await ask(proxy);
    expect([called.status, await called.json()]).toMatchObject([
      502,
      { error: { code: 'UPSTREAM_SWITCHED' } },
    ]);
    expect((await ask(proxy, {}, '/v1/embeddings')).status).toBe(502);
    expect(await recordedSteps(proxy)).toMatchObject([{ untrainable: 'the call failed' }]);
  });
});

describe('a key that an upstream repeats', () => {
  const repeating: RequestListener = (request, response) => {
    const key = `${request.headers.authorization ?? request.headers['x-api-key']}`;
    const body = JSON.stringify({ error: { message: `Incorrect API key provided: ${key}.` } });
    response.writeHead(401, { 'content-type': 'application/json', 'x-key': key });
    // In two parts, cut within the key.
    response.write(body.slice(0, 50));
    setTimeout(() => response.end(body.slice(50)), 20);
  };

  it('reaches neither the agent nor the journal where it is the proxy\u2019s', async () => {
    const proxy = await openProxy({ upstream: await serve(repeating), upstreamKey: KEY });
    for (const path of ['/v1/chat/completions', '/v1/embeddings']) {
      const answer = await ask(proxy, {}, path);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('x-key')).toBe(`Bearer ${'*'.repeat(KEY.length)}`);
      const { error } = (await answer.json()) as { error: { message: string } };
      expect(error.message).toBe(`Incorrect API key provided: Bearer ${'*'.repeat(KEY.length)}.`);
    }
    const [{ info }] = await recordedSteps(proxy);
    expect(info).toMatchObject({ error: { status: 401, message: expect.stringContaining('Bearer ****') } });
    expect(journalOnDisk(proxy.config.stateDirectory).join()).not.toContain(KEY);
  });

  it('is in no event of a stream either', async () => {
    const upstream = await serve((_, response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.end(`data: {"error": {"message": "bad key ${KEY}"}}\n\ndata: [DONE]\n\n`);
    });
    const proxy = await openProxy({ upstream, upstreamKey: KEY });
    expect(await (await ask(proxy)).text()).toContain(`bad key ${'*'.repeat(KEY.length)}"`);
    expect(JSON.stringify(await recordedSteps(proxy))).not.toContain(KEY);
  });

  it.each<Record<string, string>>([{ authorization: `Bearer ${AGENT_KEY}` }, { 'x-api-key': AGENT_KEY }])(
    'reaches the agent whose own it is, and not the journal: %j',
    async (headers) => {
      const proxy = await openProxy({ upstream: await serve(repeating), upstreamKey: KEY });
      expect(await (await ask(proxy, headers)).text()).toContain(AGENT_KEY);
      const [{ info }] = await recordedSteps(proxy);
      expect(info).toMatchObject({ error: { message: expect.stringMatching(/provided: (Bearer )?\*+\.$/) } });
    },
  );

  it('is refused in the address of the upstream and of Retrace, and not repeated', async () => {
    for (const option of ['upstream', 'retraceUrl'] as const) {
      for (const address of [
        'http://user:hunter2@127.0.0.1:9/v1',
        'ftp://hunter2@127.0.0.1',
        'http://h/?key=hunter2',
      ]) {
        const failed = await openProxy({ [option]: address }).catch((error: unknown) => error);
        expect(failed).toMatchObject({ code: 'OPTION_INVALID' });
        expect((failed as Error).message).toMatch(option === 'upstream' ? /^--upstream: / : /^--retrace: /);
        expect((failed as Error).message).not.toContain('hunter2');
      }
    }
  });
});

describe('an answer without an end', () => {
  const part = `${'é'.repeat(32_768)}`;
  const NUM_PARTS = 100;
  const stream = (write: (i: number) => string) =>
    serve((_, response) => {
      response.setHeader('content-type', 'text/event-stream');
      for (let i = 0; i < NUM_PARTS; i++) response.write(write(i));
      response.end('\n\ndata: [DONE]\n\n');
    });
  const chunk = (content: string) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

  it.each(['other', 'vllm'] as const)(
    'in one event is passed on whole and recorded as cut off, from an upstream of kind %s',
    async (upstreamKind) => {
      const write = (i: number) => (i === 0 ? `${chunk('begun')}data: ` : part);
      const proxy = await openProxy({ upstreamKind, upstream: await stream(write) });
      const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] });
      const answer = await fetch(`${proxy.url}/v1/chat/completions`, { method: 'POST', body });
      const text = await answer.text();
      expect(text).toBe(`${write(0)}${part.repeat(NUM_PARTS - 1)}\n\ndata: [DONE]\n\n`);
      expect(await recordedSteps(proxy)).toMatchObject([
        {
          untrainable: 'the answer has more than 1 MiB, and was not read on',
          messages: { output: null },
          info: { isCut: true, partialOutput: { content: 'begun' } },
        },
      ]);
    },
  );

  it('in many events is recorded up to four times the limit', async () => {
    const proxy = await openProxy({ upstream: await stream(() => chunk(part)) });
    const text = await (await ask(proxy)).text();
    expect(text).toBe(`${chunk(part).repeat(NUM_PARTS)}\n\ndata: [DONE]\n\n`);
    const [{ untrainable, info }] = await recordedSteps(proxy);
    expect(untrainable).toContain('the answer has more than 1 MiB, and was not read on');
    const { content } = (info as { partialOutput: { content: string } }).partialOutput;
    // 64 KiB each.
    expect(content.length).toBeLessThanOrEqual((4 * MIB) / 2);
  });

  it.each(['other', 'vllm'] as const)(
    'in one piece is passed on whole and recorded as cut off, from an upstream of kind %s',
    async (upstreamKind) => {
      const upstream = await serve((_, response) => {
        response.setHeader('content-type', 'application/json');
        for (let i = 0; i < NUM_PARTS; i++) response.write(part);
        response.end();
      });
      const proxy = await openProxy({ upstreamKind, upstream });
      expect(await (await ask(proxy)).text()).toBe(part.repeat(NUM_PARTS));
      const steps = await recordedSteps(proxy);
      expect(steps).toMatchObject([{ untrainable: 'the answer has more than 1 MiB, and was not read on' }]);
      const next = await ask(proxy);
      await next.arrayBuffer();
      expect(next.headers.get('x-retrace-step')).toBe('1');
    },
  );
});

describe('a disk that can not be written', () => {
  const fine = () =>
    serve((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'fine' } }] }));
    });

  it('is told by the health while the journal fails, and agents go on', async () => {
    const proxy = await openProxy({ upstream: await fine() });
    expect(await healthOf(proxy)).toMatchObject({ status: 'ok', disk: { journal: 'ok', spool: 'ok' } });
    const handle = await open(join(directory, 'any'), 'w');
    const prototype = Object.getPrototypeOf(handle) as typeof handle;
    await handle.close();
    const failing = vi
      .spyOn(prototype, 'write')
      .mockRejectedValue(new Error('ENOSPC: no space left on device'));
    expect((await ask(proxy)).status).toBe(200);
    expect(await healthOf(proxy)).toMatchObject({
      status: 'disk can not be written',
      disk: { journal: 'ENOSPC: no space left on device', spool: 'ok' },
    });
    expect(await (await fetch(`${proxy.url}/metrics`)).text()).toContain('retrace_proxy_disk_failures 1');
    failing.mockRestore();
    await ask(proxy);
    expect(await healthOf(proxy)).toMatchObject({ status: 'ok' });
  });

  it('is told while the spool fails, and the journal keeps what is not in the spool over a restart', async () => {
    const stateDirectory = join(directory, `${numStates++}`);
    await mkdir(stateDirectory);
    await writeFile(join(stateDirectory, 'spool'), 'not a directory');
    const isDown = 'http://127.0.0.1:9';
    const proxy = await openProxy({ upstream: await fine(), stateDirectory, retraceUrl: isDown });
    await ask(proxy);
    await expect
      .poll(() => healthOf(proxy))
      .toMatchObject({
        status: 'disk can not be written',
        disk: { journal: 'ok', spool: expect.stringMatching(/ENOTDIR|EEXIST/) },
      });
    await proxy.close();
    opened.pop();
    expect(await recordedSteps(proxy)).toHaveLength(1);
    await rm(join(stateDirectory, 'spool'));
    const next = await openProxy(proxy.config);
    const { retrace } = (await healthOf(next)) as { retrace: { numPending: number } };
    // The episode and its step, and the start of the run.
    expect(retrace.numPending).toBe(3);
  });
});
