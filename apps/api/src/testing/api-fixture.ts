import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '@retrace/log';
import { createStoreClient, MIGRATIONS_DIRECTORY, type StoreClient } from '@retrace/store';
import { openLmdbLog } from '@retrace/log/lmdb';
import { startStoreServer, type StoreServer } from '@retrace/store-server';
import { placeMigratedStore } from '@retrace/store-server/testing';
import type { Health } from '../health/health.dto.js';
import { readApiConfig } from '../config/api-config.js';
import { startApiServer, type ApiServer } from '../server.js';

const PASSWORDS = { full: 'full-secret', readonly: 'readonly-secret' };
const CAUGHT_UP_MS = 30_000;

/** The API over a real log and a real store in a directory of their own. */
export class ApiFixture {
  private constructor(
    readonly directory: string,
    readonly log: EventLog,
    readonly store: StoreServer,
    readonly api: ApiServer,
    /** Of the user with full access. */
    readonly client: StoreClient,
  ) {}

  static async start(environment: Readonly<Record<string, string>> = {}): Promise<ApiFixture> {
    const directory = await mkdtemp(join(tmpdir(), 'retrace-api-'));
    const dataDirectory = join(directory, 'store');
    await placeMigratedStore(dataDirectory);
    const store = await startStoreServer({
      dataDirectory,
      port: 0,
      users: [
        { name: 'retrace', password: PASSWORDS.full, access: 'full' },
        { name: 'retrace_readonly', password: PASSWORDS.readonly, access: 'readonly' },
      ],
    });
    const log = await openLmdbLog({
      path: join(directory, 'log'),
      createdBy: 'test',
      numTrajectoryPartitions: 2,
    });
    const api = await startApiServer(
      readApiConfig({ ...makeEnvironment(directory, store.url), ...environment }),
    );
    await api.storeReady;
    const client = createStoreClient({ url: store.url, username: 'retrace', password: PASSWORDS.full });
    return new ApiFixture(directory, log, store, api, client);
  }

  /** The variables that the API was started with, except those of the test. */
  get environment(): Readonly<Record<string, string>> {
    return makeEnvironment(this.directory, this.store.url);
  }

  get tokenizerDirectory(): string {
    return tokenizersIn(this.directory);
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.log.close();
    await this.client.close();
    await this.store.close();
    await rm(this.directory, { recursive: true });
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(`${this.api.url}${path}`, { headers });
  }

  async getJson<Answer>(path: string): Promise<Answer> {
    const response = await this.get(path);
    const body: unknown = await response.json();
    if (!response.ok) throw new Error(`GET ${path} answered ${response.status}: ${JSON.stringify(body)}`);
    return body as Answer;
  }

  post(path: string, body: unknown): Promise<Response> {
    return this.send('POST', path, body);
  }

  patch(path: string, body: unknown): Promise<Response> {
    return this.send('PATCH', path, body);
  }

  put(path: string, body: unknown): Promise<Response> {
    return this.send('PUT', path, body);
  }

  delete(path: string): Promise<Response> {
    return fetch(`${this.api.url}${path}`, { method: 'DELETE' });
  }

  /** Waits until the sink has carried every record that the log holds now. */
  async storeHasCaughtUp(): Promise<void> {
    const deadline = Date.now() + CAUGHT_UP_MS;
    while (Date.now() < deadline) {
      const { sink } = await this.getJson<Health>('/api/health');
      if (sink.lagRecords === 0 && (await this.sinkSawTheEnd())) return;
      await sleep(50);
    }
    throw new Error(`The sink had not caught up after ${CAUGHT_UP_MS} ms`);
  }

  private send(method: string, path: string, body: unknown): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    return fetch(`${this.api.url}${path}`, { method, headers, body: JSON.stringify(body) });
  }

  /** The lag is as of the last insert: the rows themselves say whether it is up to date. */
  private async sinkSawTheEnd(): Promise<boolean> {
    const rows = await this.client.queryRows<{ log_stream: string; log_partition: number; next: number }>(
      'SELECT log_stream, log_partition, max(log_offset) + 1 AS next FROM events GROUP BY log_stream, log_partition',
    );
    const stored = new Map(rows.map((row) => [`${row.log_stream} ${row.log_partition}`, row.next]));
    const streams = (['control', 'trajectories'] as const).flatMap((stream) =>
      Array.from({ length: this.log.numPartitions(stream) }, (_, partition) => ({ stream, partition })),
    );
    const ends = await Promise.all(
      streams.map(({ stream, partition }) => this.log.endOffset(stream, partition)),
    );
    return streams.every(
      ({ stream, partition }, i) => (stored.get(`${stream} ${partition}`) ?? 0) >= ends[i],
    );
  }
}

function makeEnvironment(directory: string, storeUrl: string): Record<string, string> {
  return {
    RETRACE_LOG_DIRECTORY: join(directory, 'log'),
    RETRACE_STORE_URL: storeUrl,
    RETRACE_STORE_USER: 'retrace',
    RETRACE_STORE_PASSWORD: PASSWORDS.full,
    RETRACE_STORE_READONLY_USER: 'retrace_readonly',
    RETRACE_STORE_READONLY_PASSWORD: PASSWORDS.readonly,
    RETRACE_API_PORT: '0',
    RETRACE_MIGRATIONS_DIRECTORY: MIGRATIONS_DIRECTORY,
    RETRACE_TOKENIZER_DIRECTORY: tokenizersIn(directory),
    RETRACE_TRACE_DIRECTORY: join(directory, 'traces'),
  };
}

function tokenizersIn(directory: string): string {
  return join(directory, 'tokenizers');
}
