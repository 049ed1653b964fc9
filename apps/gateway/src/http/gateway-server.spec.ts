import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { onClientGone } from './client-stream.js';
import { GatewayServer } from './gateway-server.js';
import { readWholeBody } from './read-body.js';
import { sendJson } from './send-answer.js';

const MAX_BODY_BYTES = 10;

async function listen(handle: (request: IncomingMessage, client: ServerResponse) => Promise<void>) {
  const listening = { host: '127.0.0.1', port: 0, allowedHosts: [] };
  const server = new GatewayServer({ ...listening, stopMs: 100, warn: () => undefined, handle });
  return server.listen(() => Promise.resolve());
}

function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname).on('error', () => undefined);
}

const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

const head = (length: number) => `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${length}\r\n\r\n`;

describe('GatewayServer', () => {
  it('stops though clients went away before their bodies were read, and tells who asks then that they are gone', async () => {
    const told: string[] = [];
    const sockets: Socket[] = [];
    const { url, close } = await listen(async (request, client) => {
      const left = once(client, 'close');
      sockets[0].resetAndDestroy();
      await left;
      await sleep(20);
      onClientGone(client, ({ message }) => told.push(message));
      await readWholeBody(request, MAX_BODY_BYTES).catch(({ message }: Error) => told.push(message));
    });
    const socket = open(url);
    sockets.push(socket);
    socket.write(`${head(3)}abc`);
    await closed(socket);
    await close();
    expect(told).toEqual(['the client went away', 'the client went away before its request was whole']);
  });

  it('closes the connection after the error for a body that is too large, which a client may have to write first', async () => {
    const { url, close } = await listen(async (request, client) => {
      sendJson(client, 200, { length: (await readWholeBody(request, MAX_BODY_BYTES)).length });
    });
    const post = (length: number) => fetch(url, { method: 'POST', body: 'a'.repeat(length) });
    expect(await (await post(MAX_BODY_BYTES)).json()).toEqual({ length: MAX_BODY_BYTES });
    const refused = await post(MAX_BODY_BYTES + 1);
    expect([refused.status, refused.headers.get('connection')]).toEqual([413, 'close']);
    expect(await refused.json()).toMatchObject({ error: { code: 'body_too_large' } });
    // More than the buffers of both sides hold, so that it can't be written while nobody reads it.
    const length = 32 * 1024 ** 2;
    const writer = open(url);
    writer.write(head(length));
    writer.write(Buffer.alloc(length, 97));
    await closed(writer);
    await close();
  });
});
