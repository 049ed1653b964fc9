import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installation } from '@retrace/cli';
import { openLmdbLog } from '@retrace/log/lmdb';
import type { EventLog } from '@retrace/log';
import { findFreePort } from '@retrace/process/free-port';
import { createStoreClient, MIGRATIONS_DIRECTORY, type StoreClient } from '@retrace/store';
import { startStoreServer, type StoreServer } from '@retrace/store-server';
import { placeMigratedStore } from '@retrace/store-server/testing';

/** The API as a process of its own, on a log and a store that go on when it is killed. */
export class KillableApi {
  private child: ChildProcess | null = null;

  private constructor(
    readonly directory: string,
    private readonly store: StoreServer,
    readonly client: StoreClient,
    private readonly port: number,
  ) {}

  /** Starts store and client, not yet the API. */
  static async prepare(): Promise<KillableApi> {
    const directory = await mkdtemp(join(tmpdir(), 'retrace-killed-'));
    const dataDirectory = join(directory, 'store');
    await placeMigratedStore(dataDirectory);
    const users = [{ name: 'retrace', password: 'secret', access: 'full' as const }];
    const store = await startStoreServer({ dataDirectory, port: 0, users });
    const client = createStoreClient({ url: store.url, username: 'retrace', password: 'secret' });
    return new KillableApi(directory, store, client, await findFreePort());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** @param variables more of its environment */
  async start(variables: Readonly<Record<string, string>> = {}): Promise<void> {
    this.child = fork(installation.program('api'), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
      env: {
        PATH: process.env.PATH,
        RETRACE_LOG_DIRECTORY: join(this.directory, 'log'),
        RETRACE_STORE_URL: this.store.url,
        RETRACE_STORE_USER: 'retrace',
        RETRACE_STORE_PASSWORD: 'secret',
        RETRACE_STORE_READONLY_USER: 'retrace_readonly',
        RETRACE_STORE_READONLY_PASSWORD: 'secret',
        RETRACE_API_PORT: String(this.port),
        RETRACE_MIGRATIONS_DIRECTORY: MIGRATIONS_DIRECTORY,
        ...variables,
      },
    });
    await once(this.child, 'message');
  }

  async kill(): Promise<void> {
    const child = this.child;
    this.child = null;
    if (child === null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** The log that the API writes to. The caller closes it. */
  openLog(): Promise<EventLog> {
    return openLmdbLog({ path: join(this.directory, 'log'), createdBy: 'test' });
  }

  async close(): Promise<void> {
    await this.kill();
    await this.client.close();
    await this.store.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}
