import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiConnection } from './api-connection.js';

interface Answer {
  readonly status: number;
  readonly text: string;
}

let server: Server;
let url: string;
let answers: Record<string, Answer>;
let authorization: string | undefined;

beforeEach(async () => {
  answers = {};
  server = createServer((request, response) => {
    authorization = request.headers.authorization;
    const { status, text } = answers[request.url ?? ''] ?? { status: 404, text: '<html>' };
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const connected = (key: string | null = null, address = url) =>
  new ApiConnection(() => Promise.resolve(address), key);
const getRuns = { method: 'GET', path: '/api/runs' };
const session = (fields: object) => {
  answers['/api/session'] = { status: 200, text: JSON.stringify(fields) };
};

describe('the connection of `retrace mcp` to an API', () => {
  it('takes an address with a slash at its end, and sends the key', async () => {
    answers['/api/runs'] = { status: 200, text: '{"items":[]}' };
    expect(await connected('retrace_1', `${url}/`).call(getRuns)).toEqual({ items: [] });
    expect(authorization).toBe('Bearer retrace_1');
  });

  it('gives code and detail of a refusal, and says what else answers there', async () => {
    answers['/api/runs'] = { status: 404, text: '{"code":"NOT_FOUND","detail":"no such run"}' };
    await expect(connected().call(getRuns)).rejects.toThrow('NOT_FOUND: no such run');
    answers['/api/runs'] = { status: 200, text: '<html>' };
    await expect(connected().call(getRuns)).rejects.toThrow(`what answers at ${url} is no API of Retrace`);
    await expect(connected().call({ method: 'GET', path: '/other' })).rejects.toThrow('status 404');
    await expect(connected(null, 'http://127.0.0.1:1').call(getRuns)).rejects.toThrow(
      '"retrace up" starts one',
    );
  });

  it('has the scopes of its key, all where none is asked for, and refuses one that the server does not know', async () => {
    session({ needsKey: false, keyId: null, scopes: [] });
    expect(await connected().scopes()).toBeNull();
    session({ needsKey: true, keyId: 'a', scopes: ['read'] });
    expect(await connected('retrace_a').scopes()).toEqual(['read']);
    session({ needsKey: true, keyId: null, scopes: [] });
    await expect(connected('retrace_b').scopes()).rejects.toThrow('RETRACE_API_KEY has none that it knows');
    await expect(connected().scopes()).rejects.toThrow('RETRACE_API_KEY is not set');
  });
});
