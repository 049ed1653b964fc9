import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineConnection } from './engine-connection.js';

/** A call, as a server saw it. */
interface Seen {
  readonly path: string;
  readonly call: string | undefined;
  readonly instance: string | undefined;
  readonly authorization: string | undefined;
  readonly sha256: string;
}

type Answer = (seen: Seen, response: ServerResponse) => void;

const json =
  (status: number, body: unknown): Answer =>
  (_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
const broken: Answer = (_, response) => response.socket?.destroy();
const cutOff: Answer = (_, response) => {
  response.writeHead(200, { 'Content-Length': 100 });
  response.write('{"half":', () => response.socket?.destroy());
};
const opened = json(200, { instance: 'first' });

describe('EngineConnection', () => {
  let server: Server;
  let seen: Seen[];
  let answers: Answer[];
  let connection: EngineConnection;

  beforeEach(async () => {
    seen = [];
    answers = [];
    server = createServer((request, response) => {
      void record(request).then((call) => {
        seen.push(call);
        (answers.shift() ?? json(500, {}))(call, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    connection = new EngineConnection(
      { url: `http://127.0.0.1:${port}`, token: 'secret' },
      { patienceMs: 2_000 },
    );
  });
  afterEach(() => {
    connection.close();
    server.close();
    server.closeAllConnections();
  });

  const open = async () => {
    answers.push(opened);
    await connection.open({ nonce: 'a' });
  };

  it('numbers calls that change something from the opening on, and names the instance and the token', async () => {
    await open();
    answers.push(json(200, {}), json(200, { a: 1 }), json(200, {}));
    await connection.change('load', { weights: 'w' });
    expect(await connection.read('metrics')).toEqual({ a: 1 });
    await connection.change('step', {});
    expect(seen.map(({ path, call, instance }) => [path, call, instance])).toEqual([
      ['/v1/open', '1', undefined],
      ['/v1/load', '2', 'first'],
      ['/v1/metrics', undefined, 'first'],
      ['/v1/step', '3', 'first'],
    ]);
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer secret']));
  });

  it.each([
    ['a broken connection', broken],
    ['an answer that is cut off', cutOff],
  ])('sends a call again with its number and its bytes after %s', async (_, fault) => {
    await open();
    answers.push(fault, fault, json(200, { isApplied: true }), json(200, {}));
    expect(await connection.change('step', { learningRate: 0.1 })).toEqual({ isApplied: true });
    await connection.change('discard', {});
    expect(seen.slice(1).map(({ call }) => call)).toEqual(['2', '2', '2', '3']);
    expect(new Set(seen.slice(1, 4).map(({ sha256 }) => sha256)).size).toBe(1);
  });

  it('gives up on an engine that does not come back: lost once it was opened, unavailable before', async () => {
    answers.push(...Array.from({ length: 50 }, () => broken));
    await expect(connection.open({})).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    answers.length = 0;
    await open();
    answers.push(...Array.from({ length: 50 }, () => broken));
    await expect(connection.change('step', {})).rejects.toMatchObject({
      code: 'ENGINE_LOST',
      message: expect.stringContaining('gave no answer to step') as string,
    });
  });

  it('does not wait for an answer of a process that has ended', async () => {
    const ending = new AbortController();
    const { port } = server.address() as AddressInfo;
    const own = new EngineConnection(
      { url: `http://127.0.0.1:${port}`, token: '' },
      { ended: ending.signal, patienceMs: 600_000 },
    );
    answers.push(opened, () => {
      ending.abort();
    });
    await own.open({});
    await expect(own.change('step', {})).rejects.toMatchObject({
      code: 'ENGINE_LOST',
      message: expect.stringContaining('its process has ended') as string,
    });
    own.close();
  });

  it.each([
    ['WRONG_INSTANCE', 409, 'ENGINE_LOST'],
    ['WRONG_CALL', 409, 'ENGINE_LOST'],
    ['NO_GRAPH', 409, 'ENGINE_LOST'],
    ['OUT_OF_MEMORY', 500, 'ENGINE_LOST'],
    ['RANK_LOST', 500, 'ENGINE_LOST'],
    ['INTERNAL', 500, 'ENGINE_LOST'],
    ['UNAUTHORIZED', 401, 'ENGINE_REFUSED'],
    ['UNSUPPORTED', 400, 'ENGINE_REFUSED'],
    ['INVALID_REQUEST', 400, 'ENGINE_REFUSED'],
    ['NOT_FINITE', 400, 'NOT_FINITE'],
    ['FILE_DAMAGED', 400, 'CHECKPOINT_CORRUPT'],
  ])('turns %s into %s %s, with the sentence of the engine', async (code, status, expected) => {
    await open();
    answers.push(json(status, { error: { code, message: 'what, value, rule' } }));
    await expect(connection.change('step', {})).rejects.toMatchObject({
      code: expected,
      message: expect.stringContaining('what, value, rule') as string,
    });
    expect(seen).toHaveLength(2);
  });

  it('takes the answer of somebody else for a lost engine', async () => {
    await open();
    answers.push((_, response) => response.writeHead(502).end('<html>Bad Gateway</html>'));
    await expect(connection.change('step', {})).rejects.toMatchObject({ code: 'ENGINE_LOST' });
  });
});

async function record(request: IncomingMessage): Promise<Seen> {
  const hash = createHash('sha256');
  for await (const piece of request) hash.update(piece as Buffer);
  const header = (name: string) => request.headers[name] as string | undefined;
  return {
    path: request.url ?? '',
    call: header('retrace-call'),
    instance: header('retrace-instance'),
    authorization: header('authorization'),
    sha256: hash.digest('hex'),
  };
}
