import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** An answer other than "all taken". */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Breaks the connection instead, after the records were taken. */
  readonly breaks?: boolean;
}

export interface IngestRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly records: readonly Record<string, unknown>[];
}

/** A server on loopback that answers as Retrace's ingest routes do; `reply` says how, null = it takes the records. */
export interface IngestServer {
  readonly url: string;
  readonly port: number;
  readonly requests: IngestRequest[];
  /** Records that were taken, in order, those that came twice once. */
  readonly taken: Record<string, unknown>[];
  numDuplicates: number;
  close(): Promise<void>;
}

export async function startIngestServer(
  reply: (request: IngestRequest, n: number) => Answer | null = () => null,
  { port = 0 } = {},
): Promise<IngestServer> {
  const keys = new Set<string>();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: chosen } = server.address() as AddressInfo;
  const state: IngestServer = {
    url: `http://127.0.0.1:${chosen}`,
    port: chosen,
    requests: [],
    taken: [],
    numDuplicates: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
    const lines = text.split('\n').filter((line) => line !== '');
    const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const received = { path: request.url ?? '', headers: request.headers, records };
    state.requests.push(received);
    const other = reply(received, state.requests.length - 1);
    if (other && !other.breaks) {
      response.writeHead(other.status, { 'content-type': 'application/problem+json', ...other.headers });
      response.end(JSON.stringify(other.body ?? {}));
      return;
    }
    const fresh = records.filter((record) => !keys.has(JSON.stringify(record)));
    for (const record of fresh) keys.add(JSON.stringify(record));
    state.taken.push(...fresh);
    const duplicates = records.length - fresh.length;
    state.numDuplicates += duplicates;
    if (other?.breaks) {
      response.destroy();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ accepted: records.length, duplicates }));
  }

  return state;
}
