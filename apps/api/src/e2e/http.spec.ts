import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { buffer, text } from 'node:stream/consumers';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Health } from '../health/health.dto.js';
import { readApiConfig } from '../config/api-config.js';
import { startApiServer } from '../server.js';
import { ApiFixture } from '../testing/api-fixture.js';
import { RunRecorder } from '../testing/run-recorder.js';

const SCRIPT = `export const text = '${'a'.repeat(500)}';`;

let fixture: ApiFixture;
let run: RunRecorder;
let site: string;

beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), 'retrace-site-'));
  await mkdir(join(site, 'assets'));
  await writeFile(join(site, 'index.html'), '<!doctype html><title>Retrace</title>');
  await writeFile(join(site, 'reference.html'), '<!doctype html><title>API</title>');
  const script = join(site, 'assets', 'index-abc123.js');
  await writeFile(script, SCRIPT);
  await writeFile(`${script}.br`, brotliCompressSync(SCRIPT));
  await writeFile(`${script}.gz`, gzipSync(SCRIPT));
  fixture = await ApiFixture.start({ RETRACE_DASHBOARD_DIRECTORY: site });
  run = new RunRecorder(fixture.log);
  await run.start();
  await run.round();
  await fixture.storeHasCaughtUp();
});

afterAll(async () => {
  await fixture?.close();
  await rm(site, { recursive: true });
});

interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** `fetch` sets Host and Accept-Encoding itself and decompresses, so requests about these go through node:http. */
function getRaw(path: string, headers: OutgoingHttpHeaders, method = 'GET'): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(fixture.api.url);
    request({ hostname, port, path, headers, method }, (response) => {
      const { statusCode: status = 0, headers } = response;
      buffer(response).then((bytes) => resolve({ status, headers, bytes }), reject);
    })
      .on('error', reject)
      .end();
  });
}

const getWithHost = (host: string, path: string): Promise<RawAnswer> => getRaw(path, { host });

describe('bad requests', () => {
  it.each([
    ['limit=0', 'limit', /^limit must be an integer from 1 to 500, got 0$/],
    ['limit=abc', 'limit', /^limit must be an integer from 1 to 500, got "abc"$/],
    ['limit=501', 'limit', /^limit must be an integer from 1 to 500, got 501$/],
    ['split=dev', 'split', /^split must be one of train, validation, test, got "dev"$/],
    ['success=maybe', 'success', /^success must be true or false, got "maybe"$/],
    ['cursor=WzFd', 'cursor', /nextCursor of an earlier page/],
    ['colour=red', 'colour', /^Unknown parameter "colour"$/],
  ])('%s is refused with the field, the value and the rule', async (query, field, rule) => {
    const response = await fixture.get(`/api/runs/${run.runId}/episodes?${query}`);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    const problem = (await response.json()) as { errors: { field: string; value: unknown; rule: string }[] };
    expect(problem).toMatchObject({
      status: 400,
      code: 'INVALID_REQUEST',
      instance: `/api/runs/${run.runId}/episodes`,
    });
    const error = problem.errors.find((each) => each.field === field);
    expect(error?.rule).toMatch(rule);
    expect(String(error?.value)).toBe(query.split('=')[1]);
  });

  it.each([
    ['DELETE', '/api/runs', 'GET, HEAD, POST'],
    ['PUT', '/api/runs/x/metrics', 'GET, HEAD'],
    ['QUERY', '/api/runs?limit=1', 'GET, HEAD, POST'],
    ['PATCH', '/api/session', 'GET, HEAD, POST, DELETE'],
    ['GET', '/api/sql', 'POST'],
  ])('answers %s %s with 405, and allows %s', async (method, path, allowed) => {
    const response = await fetch(`${fixture.api.url}${path}`, {
      method,
      ...(method.startsWith('P') && { headers: { 'content-type': 'application/json' }, body: '{}' }),
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allowed);
    expect(await response.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  });

  it('refuses or takes a forged cursor, and never fails on it', async () => {
    const texts = ['', "'", '\ud800'];
    const keys: unknown[][] = [...texts, -1, 1.5, 1e308, 2 ** 32, null].map((part) => [part]);
    keys.push([], [0, 0]);
    const lists = ['', '/episodes', '/updates', '/policies', '/warnings'].map((list) =>
      list === '' ? '/api/runs' : `/api/runs/${run.runId}${list}`,
    );
    for (const list of lists) {
      for (const key of keys) {
        const cursor = Buffer.from(JSON.stringify(key)).toString('base64url');
        const { status } = await fixture.get(`${list}?cursor=${cursor}`);
        expect([200, 400], `${list} ${JSON.stringify(key)}`).toContain(status);
      }
    }
  });

  it('names a path parameter that is not an id', async () => {
    const response = await fixture.get('/api/runs/NOT-AN-ID/metrics');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ field: 'runId', value: 'NOT-AN-ID' }] });
  });

  it('distinguishes a malformed body, a wrong type and a body that is too large', async () => {
    const post = (contentType: string, body: string): Promise<Response> =>
      fetch(`${fixture.api.url}/api/sql`, { method: 'POST', headers: { 'content-type': contentType }, body });
    const answers = await Promise.all([
      post('application/json', '{"query":'),
      post('text/plain', '{"query":"SELECT 1"}'),
      post('application/x-www-form-urlencoded', 'query=SELECT+1'),
      post('application/json', JSON.stringify({ query: 'x'.repeat(1_100_000) })),
      post('application/json', JSON.stringify({ query: 5 })),
    ]);
    const codes = await Promise.all(
      answers.map(async (answer) => ((await answer.json()) as { code: string }).code),
    );
    expect(answers.map(({ status }) => status)).toEqual([400, 415, 415, 413, 400]);
    expect(codes).toEqual([
      'MALFORMED_BODY',
      'UNSUPPORTED_MEDIA_TYPE',
      'UNSUPPORTED_MEDIA_TYPE',
      'BODY_TOO_LARGE',
      'INVALID_REQUEST',
    ]);
  });

  it.each([
    [
      'many unknown fields',
      `{${Array.from({ length: 80_000 }, (_, i) => `"f${i}":1`).join(',')}}`,
      'more than 256 fields',
    ],
    ['deep nesting', `{"query":${'['.repeat(400_000)}${']'.repeat(400_000)}}`, 'more than 8 levels'],
    ['a long field name', `{"${'n'.repeat(900_000)}":1}`, 'has 900000 characters; at most 128'],
  ])('refuses a body with %s at once', async (_what, body, rule) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${fixture.api.url}/api/sql`, { method: 'POST', headers, body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'INVALID_REQUEST',
      detail: expect.stringContaining(rule) as string,
    });
  });

  it('answers an unknown API path with 404 and the path', async () => {
    const response = await fixture.get('/api/nothing');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      code: 'NOT_FOUND',
      title: 'Not found',
      detail: 'No route for GET /api/nothing',
    });
  });

  it('reports a missing field once, as required', async () => {
    const response = await fixture.post('/api/sql', {});
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      title: 'Invalid request',
      detail: '"query" is required',
      errors: [{ field: 'query', rule: '"query" is required' }],
    });
  });
});

describe('allowed clients', () => {
  it('refuses a foreign host name, which a page with a rebound name would send', async () => {
    const { status, bytes } = await getWithHost('evil.example:8787', '/api/runs');
    expect(status).toBe(403);
    expect(JSON.parse(bytes.toString())).toMatchObject({ code: 'HOST_NOT_ALLOWED', status: 403 });
    expect((await getWithHost('127.0.0.1.evil.example', '/')).status).toBe(403);
  });

  it.each(['localhost:8787', '127.0.0.1', '[::1]:80'])('accepts the loopback name %s', async (host) => {
    expect((await getWithHost(host, '/api/health')).status).toBe(200);
  });

  it('refuses a second Host header and a target that names another host', async () => {
    // Other clients can send what node:http refuses to.
    const { hostname, port } = new URL(fixture.api.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.end(
      'GET /api/runs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    );
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain('Host \\"evil.example\\" is not allowed');
    expect((await getWithHost('localhost', 'http://evil.example/api/runs')).status).toBe(403);
  });

  it.each(['/healthz', '/readyz', '/metrics'])(
    'answers %s under any host name, for probes and scrapers',
    async (path) => {
      expect((await getWithHost('retrace-api.example:8787', path)).status).toBe(200);
    },
  );

  it('sends headers that keep pages from being framed or loading foreign code', async () => {
    const { headers } = await fixture.get('/');
    expect(headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('sends headers about pages with pages only, and the others with every answer', async () => {
    for (const path of ['/api/runs', '/api/nothing', '/assets/index-abc123.js']) {
      const { headers } = await fixture.get(path);
      expect(headers.get('content-security-policy'), path).toBeNull();
      expect(headers.get('x-frame-options'), path).toBeNull();
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('cross-origin-resource-policy'), path).toBe('same-origin');
    }
    for (const path of ['/', '/api', '/metrics'])
      expect((await fixture.get(path)).headers.get('x-frame-options'), path).toBe('DENY');
  });
});

describe('the dashboard', () => {
  it('serves the index for every page, to be revalidated each time', async () => {
    for (const path of [
      '/',
      '/sql',
      '/sql/',
      '/runs',
      `/runs/${run.runId}/episodes`,
      '/datasets/solved.v2',
    ]) {
      const response = await fixture.get(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(await response.text()).toContain('<title>Retrace</title>');
    }
  });

  it.each(['/api', '/api/'])(
    'serves the reference of the API at %s, and its document to who wants JSON',
    async (path) => {
      const page = await fixture.get(path, { accept: 'text/html' });
      expect(page.status).toBe(200);
      expect(page.headers.get('link')).toBe('</api/openapi.json>; rel="service-desc"');
      expect(await page.text()).toContain('<title>API</title>');
      const document = await fixture.get(path, { accept: 'application/json' });
      expect(document.url).toBe(`${fixture.api.url}/api/openapi.json`);
      expect(await document.json()).toMatchObject({ openapi: '3.1.0' });
    },
  );

  it('lets clients cache files with a hash in their name for a year', async () => {
    const response = await fixture.get('/assets/index-abc123.js');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/javascript/);
    expect(response.headers.get('cache-control')).toMatch(/max-age=31536000.*immutable/);
  });

  it.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    [undefined, undefined, (bytes: Buffer) => bytes],
    ['identity', undefined, (bytes: Buffer) => bytes],
    ['zstd', undefined, (bytes: Buffer) => bytes],
  ])('answers Accept-Encoding %s with Content-Encoding %s', async (accepted, encoding, decode) => {
    const { status, headers, bytes } = await getRaw(
      '/assets/index-abc123.js',
      accepted === undefined ? {} : { 'accept-encoding': accepted },
    );
    expect(status).toBe(200);
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers['content-type']).toMatch(/javascript/);
    expect(headers['cache-control']).toMatch(/max-age=31536000.*immutable/);
    expect(headers.vary).toBe('accept-encoding');
    expect(headers['content-length']).toBe(String(bytes.length));
    if (encoding !== undefined) expect(bytes.length).toBeLessThan(SCRIPT.length / 2);
    expect(decode(bytes).toString()).toBe(SCRIPT);
  });

  it('serves a file without compressed twins as it is to a client that accepts br', async () => {
    const { headers, bytes } = await getRaw('/', { 'accept-encoding': 'br' });
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['cache-control']).toBe('no-cache');
    expect(bytes.toString()).toContain('<title>Retrace</title>');
  });

  it('serves no file outside its directory', async () => {
    expect((await getWithHost('localhost', '/../secret.txt')).status).toBe(404);
    expect((await getWithHost('localhost', '/..%2f..%2fetc%2fpasswd.txt')).status).toBeGreaterThanOrEqual(
      400,
    );
    expect((await fixture.get('/assets/missing.js')).status).toBe(404);
  });
});

describe('compression of answers', () => {
  const path = '/api/openapi.json';

  it.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
  ])('answers JSON to Accept-Encoding %s with Content-Encoding %s', async (accepted, encoding, decode) => {
    const { headers, bytes } = await getRaw(path, { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toMatch(/accept-encoding/i);
    expect(headers['content-type']).toMatch(/^application\/json/);
    const identity = await getRaw(path, {});
    expect(bytes.length).toBeLessThan(identity.bytes.length / 3);
    expect(decode(bytes).equals(identity.bytes)).toBe(true);
  });

  it.each([undefined, 'identity', 'zstd'])('answers as it is to Accept-Encoding %s', async (accepted) => {
    const { headers, bytes } = await getRaw(
      path,
      accepted === undefined ? {} : { 'accept-encoding': accepted },
    );
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['content-length']).toBe(String(bytes.length));
  });

  it('leaves an answer under 1 kB, measurements and files without compressed twins as they are', async () => {
    for (const path of ['/healthz', '/metrics', '/']) {
      const { status, headers } = await getRaw(path, { 'accept-encoding': 'br, gzip' });
      expect(status).toBe(200);
      expect(headers['content-encoding']).toBeUndefined();
    }
  });

  it('answers HEAD with the length of the answer as it is', async () => {
    const { headers, bytes } = await getRaw(path, { 'accept-encoding': 'br, gzip' }, 'HEAD');
    expect(bytes.length).toBe(0);
    expect(headers['content-encoding']).toBeUndefined();
    const identity = await getRaw(path, {});
    expect(headers['content-length']).toBe(identity.headers['content-length']);
  });

  it('sends events of the live stream as they are, at once', async () => {
    const { hostname, port } = new URL(fixture.api.url);
    const stream = `/api/runs/${run.runId}/live`;
    const live = request({ hostname, port, path: stream, headers: { 'accept-encoding': 'br, gzip' } }).end();
    const [response] = (await once(live, 'response')) as [IncomingMessage];
    expect(response.headers['content-encoding']).toBeUndefined();
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^retry: /);
    live.destroy();
  });
});

describe('addresses that end with a slash', () => {
  it.each(['/api/runs/', '/api/health/', '/metrics/'])('%s is the route without it', async (path) => {
    expect((await fixture.get(path)).status).toBe(200);
  });

  it('allow the methods that the route has', async () => {
    const response = await fetch(`${fixture.api.url}/api/runs/`, { method: 'DELETE' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
  });
});

describe('health and measurements', () => {
  it('reports the health of store, log and sink with status 200', async () => {
    const health = await fixture.getJson<Health>('/api/health');
    expect(health).toMatchObject({
      status: 'ok',
      store: { status: 'up', state: 'ready' },
      log: { logId: fixture.log.logId },
      sink: { status: 'up', state: 'running' },
    });
  });

  it('answers probes: alive, and ready only while the store can be reached', async () => {
    expect(await fixture.getJson('/healthz')).toEqual({ status: 'ok' });
    expect(await fixture.getJson('/readyz')).toEqual({ status: 'ok' });
    const starting = await startApiServer(
      readApiConfig({
        ...fixture.environment,
        RETRACE_STORE_URL: 'http://127.0.0.1:9',
        RETRACE_API_PORT: '0',
      }),
    );
    starting.storeReady.catch(() => undefined);
    try {
      expect((await fetch(`${starting.url}/healthz`)).status).toBe(200);
      const ready = await fetch(`${starting.url}/readyz`);
      expect(ready.status).toBe(503);
      expect(await ready.json()).toMatchObject({ code: 'STORE_STARTING', status: 503 });
    } finally {
      await starting.close();
    }
  });

  it('returns measurements in the text format of Prometheus', async () => {
    const response = await fixture.get('/metrics');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(text).toMatch(/^retrace_store_ready 1$/m);
    expect(text).toMatch(/^retrace_store_queries_total [1-9]/m);
    expect(text).toMatch(/^retrace_sink_rows_total\{stream="control",partition="0"\} [1-9]/m);
    expect(text).toMatch(
      /^retrace_http_request_duration_seconds_count\{method="GET",route="\/api\/health",status="200"\} [1-9]/m,
    );
  });

  it('serves the OpenAPI document with every route', async () => {
    const document = await fixture.getJson<{
      openapi: string;
      paths: object;
      components: { schemas: object };
    }>('/api/openapi.json');
    expect(document.openapi).toMatch(/^3\./);
    expect(Object.keys(document.paths).sort()).toEqual([
      '/api/agents',
      '/api/alarms',
      '/api/alarms/acknowledgements',
      '/api/alarms/silences',
      '/api/datasets',
      '/api/datasets/{name}',
      '/api/datasets/{name}/episodes',
      '/api/health',
      '/api/notebooks',
      '/api/notebooks/{notebookId}',
      '/api/plays',
      '/api/plays/{playId}',
      '/api/queue',
      '/api/queue/{queueId}',
      '/api/recipes',
      '/api/runs',
      '/api/runs/{runId}',
      '/api/runs/{runId}/answers',
      '/api/runs/{runId}/batches',
      '/api/runs/{runId}/delete-episodes',
      '/api/runs/{runId}/end',
      '/api/runs/{runId}/episodes',
      '/api/runs/{runId}/episodes/{episodeId}',
      '/api/runs/{runId}/episodes/{episodeId}/branches',
      '/api/runs/{runId}/episodes/{episodeId}/steps',
      '/api/runs/{runId}/live',
      '/api/runs/{runId}/metrics',
      '/api/runs/{runId}/policies',
      '/api/runs/{runId}/recipe-differences/{otherRunId}',
      '/api/runs/{runId}/records',
      '/api/runs/{runId}/replays',
      '/api/runs/{runId}/replays/{replayId}',
      '/api/runs/{runId}/retention',
      '/api/runs/{runId}/reward-versions',
      '/api/runs/{runId}/reward-versions/{version}/audit',
      '/api/runs/{runId}/reward-versions/{version}/differences/{otherVersion}',
      '/api/runs/{runId}/sampling-blocks',
      '/api/runs/{runId}/totals',
      '/api/runs/{runId}/training',
      '/api/runs/{runId}/updates',
      '/api/runs/{runId}/updates/{updateNumber}',
      '/api/runs/{runId}/updates/{updateNumber}/distributions',
      '/api/runs/{runId}/updates/{updateNumber}/inputs',
      '/api/runs/{runId}/updates/{updateNumber}/inputs/{episodeId}/tokens',
      '/api/runs/{runId}/updates/{updateNumber}/lineage',
      '/api/runs/{runId}/validations',
      '/api/runs/{runId}/validations/tasks',
      '/api/runs/{runId}/warnings',
      '/api/runs/{runId}/what-ifs',
      '/api/runs/{runId}/what-ifs/{whatIfId}',
      '/api/session',
      '/api/sql',
      '/api/sql/explain',
      '/api/sql/schema',
      '/v1/traces',
    ]);
    expect(document.components.schemas).toHaveProperty('ProblemBody');
  });
});
