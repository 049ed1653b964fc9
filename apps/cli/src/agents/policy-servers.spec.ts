import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { KIND_PATHS } from '@retrace/chat';
import { KeyDirectory, mintKey, type KeyScope } from '@retrace/process';
import { KeyGuard } from '@retrace/gateway/serve';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliError } from '../cli-error.js';
import { PolicyServers } from './policy-servers.js';

describe('PolicyServers', () => {
  const ownKey = mintKey();
  let keyDirectory: string;
  let policy: Server;
  let servers: PolicyServers;
  let asked: string[];
  let named: (string | null)[];
  let hasPolicy: boolean;

  beforeEach(async () => {
    keyDirectory = mkdtempSync(join(tmpdir(), 'retrace-agents-'));
    [asked, named, hasPolicy] = [[], [], true];
    policy = createServer(({ method, url = '' }, response) => {
      asked.push(`${method} ${url}`);
      response.end('{"version":"1"}');
    });
    await once(policy.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(policy.address() as AddressInfo).port}`;
    servers = await PolicyServers.listen({
      policies: {
        use: (model) => {
          named.push(model);
          if (!hasPolicy) throw new CliError('POLICY_UNKNOWN', 'no run has published a policy yet');
          return Promise.resolve({ url, release: () => undefined });
        },
        close: () => Promise.resolve(),
      },
      keys: new KeyGuard({
        ...{ host: '127.0.0.1', keyDirectory, ownKey, scope: 'ingest' },
        onWarning: () => undefined,
      }),
      maxBodyBytes: 100,
    });
  });

  afterEach(async () => {
    await servers.close();
    policy.close();
    rmSync(keyDirectory, { recursive: true });
  });

  async function send(method: string, path: string, headers: Record<string, string> = {}, body = '') {
    const { port } = new URL(servers.url);
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { status: response.statusCode, body: (await json(response)) as { error?: { code?: string } } };
  }

  it('passes a target with two slashes on as a path of the policy, not as another host', async () => {
    expect((await send('GET', '//evil.example/v1/models')).status).toBe(200);
    expect((await send('GET', 'http://evil.example/v1/models')).status).toBe(403);
    expect(asked).toEqual(['GET //evil.example/v1/models']);
  });

  it('refuses pages, larger bodies and unknown policies before a policy is loaded', async () => {
    const foreign = { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await send('GET', '/v1/models', foreign)).status).toBe(403);
    expect((await send('POST', '/v1/chat/completions', {}, ' '.repeat(101))).status).toBe(413);
    expect(named).toEqual([]);
    hasPolicy = false;
    expect(await send('POST', '/v1/chat/completions', {}, '{"model":"run:a"}')).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found' } },
    });
    expect(named).toEqual(['run:a']);
    // The proxy would take any answer for that of an unknown program.
    await expect(send('GET', '/version')).rejects.toThrow();
  });

  it('asks for a key with the scope ingest as soon as there is one, except on the routes where the proxy asks which program it is; it takes that of the server', async () => {
    const create = async (scope: KeyScope) =>
      (await new KeyDirectory(keyDirectory).create({ name: 'a', scopes: [scope], expiresAt: null }, 0)).key;
    const [read, ingest] = [await create('read'), await create('ingest')];
    const statusOf = async (key: string | null) =>
      (await send('GET', '/v1/models', key === null ? {} : { authorization: `Bearer ${key}` })).status;
    expect(await statusOf(null)).toBe(401);
    expect(await statusOf(mintKey())).toBe(401);
    expect(await statusOf(read)).toBe(403);
    expect(named).toEqual([]);
    expect(await statusOf(ingest)).toBe(200);
    expect(await statusOf(ownKey)).toBe(200);
    // Each kind of model server in the table with a route of its own adds one, which must tell nothing of a policy.
    expect(KIND_PATHS).toEqual(['/version', '/get_model_info']);
    for (const path of KIND_PATHS) {
      expect((await send('GET', path)).status).toBe(200);
      for (const asked of [`${path}?a`, `${path}/a`]) expect((await send('GET', asked)).status).toBe(401);
      expect((await send('POST', path, {}, '{}')).status).toBe(401);
    }
  });
});
