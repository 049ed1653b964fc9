import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { findFreePort } from '@retrace/process/free-port';
import { startProxy } from '@retrace/gateway/proxy';
import { openDirectorySupply, startServer } from '@retrace/gateway/serve';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser } from '../../scripts/find-browser.mjs';
import { writeByteModel } from '../support/byte-model.mjs';
import { root } from '../support/cli.mjs';
import { FOREIGN_NAME, ForeignPage, WitnessServer, type Attack } from '../support/foreign-page.js';
import { clientEnvironment, pythonVariables } from '../support/python-client.mjs';
import { startPythonServer } from '../support/python-server.mjs';
import { RecordedRuns } from '../support/recorded-run.js';

const found = findBrowser();
const noBrowser = 'unavailable' in found ? ` (skipped, because ${found.unavailable})` : '';
const python = 'unavailable' in found ? found : await clientEnvironment();
const noPython = 'unavailable' in python ? ` (skipped, because ${python.unavailable})` : '';

const CHAT = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'drive-by' }] });

/** A page of an origin that Retrace does not serve, in a browser that runs on the machine of the servers. */
describe.skipIf(noBrowser)(`a foreign web page${noBrowser}`, () => {
  const open: (() => unknown)[] = [];
  let page: ForeignPage;
  /** The page's own server. */
  let origin: WitnessServer;
  /** Servers that the proxy passes requests on to, and records them in. */
  let upstream: WitnessServer;
  let retrace: WitnessServer;

  beforeAll(async () => {
    if ('unavailable' in found) return;
    page = await ForeignPage.open(found.path);
    open.push(() => page.close());
    [origin, upstream, retrace] = await Promise.all(Array.from({ length: 3 }, () => WitnessServer.start()));
    for (const server of [origin, upstream, retrace]) open.push(() => server.close());
  });

  afterAll(async () => {
    for (const close of open.reverse()) await close();
  });

  const newDirectory = async () => {
    const directory = await mkdtemp(join(tmpdir(), 'retrace-foreign-page-'));
    open.push(() => rm(directory, { recursive: true, force: true }));
    return directory;
  };

  /** Attacks a server from a page of another port and from one of another site, and under a name that resolves to it. */
  async function expectRefusals(attack: Attack, probes: readonly string[]): Promise<void> {
    for (const name of ['127.0.0.1', FOREIGN_NAME]) {
      await page.visit(`http://${name}:${origin.port}/`);
      const { answers, hasSocket } = await page.attack({ ...attack, gets: [...attack.gets, ...probes] });
      expect(hasSocket).toBe(false);
      expect(answers.length).toBeGreaterThan(0);
      expect(answers.filter(({ status }) => status !== 403)).toEqual([]);
    }
    const rebound = attack.url.replace('127.0.0.1', FOREIGN_NAME);
    expect(await page.visit(rebound + attack.gets[0])).toBe(403);
    const { answers, hasSocket } = await page.attack({ ...attack, url: rebound, usesFrames: false });
    expect(hasSocket).toBe(false);
    expect(answers.filter(({ status }) => status !== 403)).toEqual([]);
  }

  it('reaches a server without a guard by every way that these tests try', async () => {
    const { port, url, seen } = await WitnessServer.start().then((server) => {
      open.push(() => server.close());
      return server;
    });
    await page.visit(`http://${FOREIGN_NAME}:${origin.port}/`);
    await page.attack({ url, gets: ['/any'], posts: [['/v1/chat/completions', CHAT]], socket: '/ws' });
    const kinds = seen.map(({ method, headers }) => `${method} ${headers['content-type'] ?? ''}`);
    expect(new Set(kinds)).toEqual(
      new Set([
        'GET ',
        'OPTIONS ',
        'POST text/plain',
        'POST application/x-www-form-urlencoded;charset=UTF-8',
        'POST application/x-www-form-urlencoded',
      ]),
    );
    // By two calls of `fetch`, an image, a script, a frame and a WebSocket.
    expect(seen.filter(({ method }) => method === 'GET')).toHaveLength(6);
    await page.visit(`http://${FOREIGN_NAME}:${port}/rebound`);
    const rebound = seen.find(({ url: asked }) => asked === '/rebound');
    expect(rebound?.headers.host).toBe(`${FOREIGN_NAME}:${port}`);
  });

  it('gets nothing from the proxy, and nothing goes to its upstream or to Retrace', async () => {
    const proxy = await startProxy(
      {
        upstream: `${upstream.url}/v1`,
        upstreamKind: 'other',
        upstreamKey: 'secret',
        upstreamTimeoutMs: 60_000,
        host: '127.0.0.1',
        port: 0,
        allowedHosts: [],
        retraceUrl: retrace.url,
        retraceKey: null,
        run: 'proxy',
        stateDirectory: await newDirectory(),
        idleMs: 600_000,
        maxBodyBytes: 1e6,
        logprobMode: null,
      },
      { warn: () => undefined },
    );
    open.push(() => proxy.close());
    await expectRefusals(
      {
        url: proxy.url,
        gets: ['/v1/files', '/any', '/'],
        posts: [
          ['/v1/chat/completions', CHAT],
          ['/v1/messages', CHAT],
          ['/e/case/reward', '{"name":"thumbs","value":-100}'],
          ['/e/case/end', '{}'],
        ],
        socket: '/v1/realtime',
      },
      ['/health', '/metrics'],
    );
    expect(upstream.seen).toEqual([]);
    // The proxy itself says that its run began.
    expect(retrace.seen.filter(({ url }) => url !== '/api/runs')).toEqual([]);
    // An agent sends no Origin, and a person types the address.
    const answer = await fetch(`${proxy.url}/v1/files`, { method: 'POST', body: 'any' });
    expect(answer.status).toBe(200);
    expect(upstream.seen.at(-1)).toMatchObject({
      url: '/v1/files',
      headers: { authorization: 'Bearer secret' },
    });
    expect(await page.visit(`${proxy.url}/health`)).toBe(200);
  });

  it('gets nothing from a policy that is served', async () => {
    await openBackend();
    const directory = await newDirectory();
    await writeByteModel(directory);
    const server = await startServer(
      {
        ...{ host: '127.0.0.1', port: 0, allowedHosts: [], keyDirectory: null, concurrency: 2, maxQueued: 4 },
        ...{ contextLength: 64, maxBodyBytes: 1e6, logprobsMode: 'raw_logprobs' },
      },
      await openDirectorySupply(directory, 'tiny'),
      { version: 'test', warn: () => undefined },
    );
    open.push(() => server.close());
    await expectRefusals(
      {
        url: server.url,
        gets: ['/v1/models', '/any'],
        posts: [['/v1/completions', '{"prompt":"a","max_tokens":1}']],
        socket: '/ws',
      },
      ['/health', '/metrics'],
    );
    const answer = await fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      body: '{"prompt":"a","max_tokens":1}',
    });
    expect(answer.status).toBe(200);
  });

  it('gets nothing from the API, and may link to its pages', async () => {
    const runs = await RecordedRuns.open();
    open.push(() => runs.close());
    const { url } = runs.api.api;
    await expectRefusals(
      {
        url,
        gets: ['/api/runs', '/api/health', '/'],
        posts: [
          ['/api/sql', '{"query":"SELECT 1"}'],
          ['/api/runs', '{"id":"0199aaaa-0000-7000-8000-000000000001"}'],
        ],
        socket: '/ws',
      },
      ['/healthz', '/metrics'],
    );
    expect(await runs.retrace.rows('SELECT * FROM runs')).toEqual([]);
    await page.visit(`http://${FOREIGN_NAME}:${origin.port}/`);
    expect(await page.follow(`${url}/api/runs`)).toBe(403);
    await page.visit(`http://${FOREIGN_NAME}:${origin.port}/`);
    expect(await page.follow(`${url}/runs`)).not.toBe(403);
  });

  it.skipIf(noPython)(`gets nothing from an environment in Python${noPython}`, async () => {
    if ('unavailable' in python) return;
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    const host = join(root, 'test', 'support', 'hosts', 'gymnasium_lake.py');
    open.push(await startPythonServer(python.python, [host, `${port}`], { url, env: pythonVariables({}) }));
    await expectRefusals({ url, gets: ['/any', '/ws'], posts: [], socket: '/ws' }, ['/health']);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });
});
