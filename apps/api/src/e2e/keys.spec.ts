import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyDirectory, type KeyScope } from '@retrace/process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readApiConfig } from '../config/api-config.js';
import { startApiServer, type ApiServer } from '../server.js';
import { ApiFixture } from '../testing/api-fixture.js';
import { RunRecorder } from '../testing/run-recorder.js';

let keyDirectory: string;
let keys: KeyDirectory;
let fixture: ApiFixture;
let run: RunRecorder;
/** Every key and session token of these tests. */
const secrets: string[] = [];

beforeAll(async () => {
  keyDirectory = await mkdtemp(join(tmpdir(), 'retrace-keys-'));
  keys = new KeyDirectory(keyDirectory);
  fixture = await ApiFixture.start({
    RETRACE_API_KEYS_DIRECTORY: keyDirectory,
    RETRACE_DOCUMENTATION_DIRECTORY: join(keyDirectory, 'none'),
  });
  run = new RunRecorder(fixture.log);
  await run.start();
  await run.round();
  await fixture.storeHasCaughtUp();
});

afterAll(async () => {
  await fixture?.close();
  await rm(keyDirectory, { recursive: true });
});

async function makeKey(scopes: readonly KeyScope[], expiresAt: string | null = null) {
  const made = await keys.create({ name: scopes.join('+'), scopes, expiresAt }, Date.now());
  secrets.push(made.key);
  return made;
}

/** The answer of `/api/session` to a request without a key. */
const NOBODY = { needsKey: true, keyId: null, keyName: null, scopes: [], expiresAt: null };

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function answerOf(answer: Promise<Response>) {
  const response = await answer;
  const { code, detail } = (await response.json()) as { readonly code?: string; readonly detail?: string };
  return { status: response.status, challenge: response.headers.get('www-authenticate'), code, detail };
}

function logIn(api: Pick<ApiServer, 'url'>, key: unknown, headers: Readonly<Record<string, string>> = {}) {
  return fetch(`${api.url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ key }),
  });
}

async function sessionOf(key: string) {
  const response = await logIn(fixture.api, key);
  expect(response.status).toBe(200);
  const [cookie, ...attributes] = (response.headers.get('set-cookie') ?? '').split('; ');
  secrets.push(cookie.split('=')[1]);
  return { cookie, attributes };
}

describe('a server on the loopback interface', () => {
  it('is open while there is no key, and says so', async () => {
    expect((await fixture.get('/api/runs')).status).toBe(200);
    expect((await fixture.get('/api/runs', bearer('of-another-server'))).status).toBe(200);
    expect(await fixture.getJson('/api/session')).toEqual({ ...NOBODY, needsKey: false });
  });

  it('needs a key from about a second after the first was made, and stays so when that has expired', async () => {
    await makeKey(['read'], new Date(Date.now() + 10).toISOString());
    await vi.waitFor(
      async () => {
        expect(await answerOf(fixture.get('/api/runs'))).toEqual({
          status: 401,
          challenge: 'Bearer realm="retrace"',
          code: 'KEY_REQUIRED',
          detail: 'This server needs an API key: send "Authorization: Bearer <key>"',
        });
      },
      { timeout: 5_000, interval: 100 },
    );
  });

  it('answers health, measurements, probes, documentation and its document without a key', async () => {
    const paths = ['/api/health', '/metrics', '/healthz', '/readyz', '/api/openapi.json', '/api/session'];
    const statuses = await Promise.all(paths.map(async (path) => (await fixture.get(path)).status));
    expect(statuses).toEqual(paths.map(() => 200));
    // It was not built, which is no secret either.
    expect((await fixture.get('/docs/sql')).status).toBe(404);
  });
});

describe('a key', () => {
  const ROUTES: readonly (readonly [string, (id: string) => string, KeyScope])[] = [
    ['GET', () => '/api/runs', 'read'],
    ['HEAD', () => '/api/runs', 'read'],
    ['GET', (id) => `/api/runs/${id}/episodes`, 'read'],
    ['GET', (id) => `/api/runs/${id}/metrics`, 'read'],
    ['GET', () => '/api/sql/schema', 'sql'],
    ['POST', () => '/api/sql', 'sql'],
    ['POST', () => '/api/sql/explain', 'sql'],
    ['GET', () => '/api/notebooks', 'read'],
  ];

  it('gives its name to what it does about alarms', async () => {
    const { key, stored } = await makeKey(['ingest', 'read']);
    const ofAll = { rule: 'runFailed', until: '1h', note: 'a test', source: 'somebody else' };
    const body = { ...ofAll, runId: run.runId };
    const headers = { ...bearer(key), 'content-type': 'application/json' };
    const path = `${fixture.api.url}/api/alarms/silences`;
    expect((await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).status).toBe(200);
    expect(await (await fetch(path, { headers })).json()).toMatchObject({ items: [{ source: stored.name }] });

    const refused = await fetch(path, { method: 'POST', headers, body: JSON.stringify(ofAll) });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('scope="admin"');
    expect(await refused.json()).toMatchObject({
      code: 'SCOPE_MISSING',
      detail: expect.stringContaining('A silence of all runs needs the scope "admin"') as string,
    });
    const admin = { ...headers, ...bearer((await makeKey(['admin'])).key) };
    expect((await fetch(path, { method: 'POST', headers: admin, body: JSON.stringify(ofAll) })).status).toBe(
      200,
    );
  });

  it.each(['ingest', 'read', 'sql', 'admin'] as const)(
    'with scope %s may do that and nothing else',
    async (scope) => {
      const { key } = await makeKey([scope]);
      for (const [method, pathOf, needed] of ROUTES) {
        const response = await fetch(`${fixture.api.url}${pathOf(run.runId)}`, {
          method,
          headers: { ...bearer(key), 'content-type': 'application/json' },
          ...(method === 'POST' && { body: '{"query":"SELECT 1"}' }),
        });
        const mayCall = scope === needed || scope === 'admin';
        expect(response.status, `${method} ${pathOf('…')}`).toBe(mayCall ? 200 : 403);
        if (mayCall || method === 'HEAD') continue;
        expect(response.headers.get('www-authenticate')).toBe(
          `Bearer realm="retrace", error="insufficient_scope", scope="${needed}"`,
        );
        expect(await response.json()).toMatchObject({ code: 'SCOPE_MISSING', status: 403 });
      }
    },
  );

  it('is refused before the body is read when it is unknown, malformed, expired or revoked, with the reason', async () => {
    const expired = await makeKey(['admin'], '2026-01-01T00:00:00.000Z');
    const revoked = await makeKey(['admin']);
    await keys.revoke(revoked.stored, Date.UTC(2026, 0, 2));
    const good = await makeKey(['admin']);
    const forged = good.key.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const wrongs: [string, string | RegExp][] = [
      [`Bearer ${expired.key}`, `API key retrace_${expired.stored.id} expired at 2026-01-01T00:00:00.000Z`],
      [
        `Bearer ${revoked.key}`,
        `API key retrace_${revoked.stored.id} was revoked at 2026-01-02T00:00:00.000Z`,
      ],
      [`Bearer ${forged}`, 'Unknown API key'],
      ['Bearer retrace_0123456789ab_nothing', 'Unknown API key'],
      [`Basic ${Buffer.from(`key:${good.key}`).toString('base64')}`, 'Authorization must be "Bearer <key>"'],
      [good.key, 'Authorization must be "Bearer <key>"'],
    ];
    for (const [authorization, detail] of wrongs) {
      const sent = fetch(`${fixture.api.url}/api/sql`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"query":',
      });
      expect(await answerOf(sent)).toEqual({
        status: 401,
        challenge: 'Bearer realm="retrace", error="invalid_token"',
        code: 'KEY_INVALID',
        detail,
      });
    }
    expect((await fixture.get('/api/runs', bearer(good.key))).status).toBe(200);
  });

  it('is refused a second or two after it was revoked, and its last use is known', async () => {
    const { key, stored } = await makeKey(['read']);
    expect((await fixture.get('/api/runs', bearer(key))).status).toBe(200);
    await vi.waitFor(async () => {
      expect(Date.now() - Date.parse((await keys.lastUse(stored.id)) ?? '')).toBeLessThan(60_000);
    });
    await keys.revoke(stored, Date.now());
    await vi.waitFor(
      async () => {
        expect((await fixture.get('/api/runs', bearer(key))).status).toBe(401);
      },
      { timeout: 120_000, interval: 100 },
    );
  });
});

describe('the login of a page', () => {
  it('answers with a cookie that scripts and other sites can not use, and that counts as its key', async () => {
    const { key, stored } = await makeKey(['read', 'sql']);
    const { cookie, attributes } = await sessionOf(key);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/api', 'SameSite=Strict']);
    expect((await fixture.get('/api/runs', { cookie })).status).toBe(200);
    const status: unknown = await (await fixture.get('/api/session', { cookie })).json();
    expect(status).toEqual({
      needsKey: true,
      keyId: stored.id,
      keyName: 'read+sql',
      scopes: ['read', 'sql'],
      expiresAt: null,
    });
    const overHttps = await logIn(fixture.api, key, {
      origin: 'https://localhost',
      'sec-fetch-site': 'same-origin',
    });
    expect(overHttps.headers.get('set-cookie')).toMatch(/; Secure/);
    secrets.push(overHttps.headers.get('set-cookie')?.split(/[=;]/)[1] ?? '');
  });

  it('opens the live stream, as browsers can send it no header', async () => {
    const { cookie } = await sessionOf((await makeKey(['read'])).key);
    const stop = new AbortController();
    const url = `${fixture.api.url}/api/runs/${run.runId}/live`;
    const stream = await fetch(url, { headers: { cookie }, signal: stop.signal });
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
    stop.abort();
    expect((await fetch(url)).status).toBe(401);
  });

  it('does not count for a page of another origin, whose forms are refused, too', async () => {
    const { cookie } = await sessionOf((await makeKey(['admin'])).key);
    const codeOf = async (headers: Record<string, string>, body?: string) =>
      (
        await answerOf(
          fetch(`${fixture.api.url}/api/sql${body === undefined ? '/schema' : ''}`, {
            method: body === undefined ? 'GET' : 'POST',
            headers: { cookie, ...headers },
            body,
          }),
        )
      ).code;
    expect(await codeOf({ 'sec-fetch-site': 'same-origin' })).toBeUndefined();
    expect(await codeOf({ 'sec-fetch-site': 'same-site' })).toBe('ORIGIN_NOT_ALLOWED');
    expect(await codeOf({ 'sec-fetch-site': 'cross-site' })).toBe('ORIGIN_NOT_ALLOWED');
    expect(await codeOf({ 'content-type': 'text/plain' }, '{"query":"SELECT 1"}')).toBe(
      'UNSUPPORTED_MEDIA_TYPE',
    );
  });

  it('ends with the logout, and with its key', async () => {
    const { key, stored } = await makeKey(['read']);
    const [first, second] = [await sessionOf(key), await sessionOf(key)];
    const left = await fetch(`${fixture.api.url}/api/session`, {
      method: 'DELETE',
      headers: { cookie: first.cookie },
    });
    expect(await left.json()).toEqual(NOBODY);
    expect(left.headers.get('set-cookie')).toMatch(/^retrace_session=; .*Expires=Thu, 01 Jan 1970/);
    expect(await answerOf(fixture.get('/api/runs', { cookie: first.cookie }))).toMatchObject({
      code: 'KEY_REQUIRED',
      detail: 'The session has ended; log in again',
    });
    expect((await fixture.get('/api/runs', { cookie: second.cookie })).status).toBe(200);
    await keys.revoke(stored, Date.now());
    await vi.waitFor(
      async () => {
        expect((await fixture.get('/api/runs', { cookie: second.cookie })).status).toBe(401);
      },
      { timeout: 120_000, interval: 100 },
    );
  });

  it.each([
    ['of no key', 'guess', 401, /Unknown API key/],
    ['of another type', { a: 1 }, 400, /"value":"\(hidden\)","rule":"key must be text/],
    ['that is too long', 'x'.repeat(201), 400, /"value":"\(hidden\)","rule":"key must have at most 200/],
  ])('refuses a text %s, and does not repeat it', async (_, key, status, said) => {
    const response = await logIn(fixture.api, key);
    const text = await response.text();
    expect(response.status).toBe(status);
    expect(text).toMatch(said);
    expect(text).not.toContain(typeof key === 'string' ? key : '"a"');
  });
});

describe('the rate limit', () => {
  it('answers 429 with Retry-After above it, for each key and each address by itself, and never to probes', async () => {
    const api = await startApiServer(
      readApiConfig({
        ...fixture.environment,
        RETRACE_API_KEYS_DIRECTORY: keyDirectory,
        RETRACE_API_RATE_LIMIT: '1',
        RETRACE_SINK: 'off',
      }),
    );
    await api.storeReady;
    try {
      const [one, other] = [await makeKey(['read']), await makeKey(['read'])];
      const get = (path: string, headers: Record<string, string> = {}) =>
        fetch(`${api.url}${path}`, { headers });
      // Requests that arrive together are refused together where they pass the limit.
      const sendMany = async (headers: Record<string, string>) =>
        Promise.all(Array.from({ length: 12 }, () => get('/api/session', headers)));
      expect((await get('/api/session', bearer(one.key))).status).toBe(200);
      const refused = (await sendMany(bearer(one.key))).filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused[0].headers.get('retry-after')).toBe('1');
      expect(await refused[0].json()).toMatchObject({
        code: 'RATE_LIMITED',
        detail: 'This key sends more than 1 requests a second, which is the limit (RETRACE_API_RATE_LIMIT)',
      });
      expect((await get('/api/session', bearer(other.key))).status).toBe(200);
      expect((await get('/api/runs')).status).toBe(401);
      const strangers = await sendMany({});
      expect(strangers.some(({ status }) => status === 429)).toBe(true);
      const probes = await Promise.all(Array.from({ length: 12 }, () => get('/healthz')));
      expect(new Set(probes.map(({ status }) => status))).toEqual(new Set([200]));
    } finally {
      await api.close();
    }
  });
});

describe('secrets', () => {
  it('no key and no session is in the log, the store or the directory of the keys', async () => {
    await fixture.storeHasCaughtUp();
    expect(secrets.length).toBeGreaterThan(10);
    const texts = secrets.map((secret) => secret.replace(/^retrace_[0-9a-f]{12}_/, ''));
    let numFiles = 0;
    for (const root of [fixture.directory, keyDirectory]) {
      for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        numFiles += 1;
        const content = await readFile(join(entry.parentPath, entry.name), 'latin1');
        for (const text of texts)
          expect(content.includes(text), `${entry.parentPath}/${entry.name}`).toBe(false);
      }
    }
    expect(numFiles).toBeGreaterThan(20);
  });
});
