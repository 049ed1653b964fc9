import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export interface FixtureServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Connections that were opened so far. */
  readonly numConnections: number;
  close(): Promise<void>;
}

/** Starts a server on loopback whose answers `reply` gives; texts are sent as they are, everything else as JSON. */
export async function startFixtureServer(
  reply: (asked: Asked, n: number) => Reply | Promise<Reply>,
): Promise<FixtureServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url = '' } = request;
      const body = method === 'POST' ? await json(request) : null;
      asked.push({ method, path: url, body });
      const answer = await reply({ method, path: url, body }, asked.length - 1);
      response.writeHead(answer.status ?? 200, answer.headers);
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    })();
  });
  let numConnections = 0;
  server.on('connection', () => numConnections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    get numConnections() {
      return numConnections;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
