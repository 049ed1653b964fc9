import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { createStoreClient, migrate, StoreError, type StoreClient, type StoreReader } from '@retrace/store';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiConfig } from '../config/api-config.js';
import { requestSettings } from './asked-moment.js';
import { ProblemError } from '../problems/problem.js';

/** `starting` until the store answers and has the schema of this code; `failed` when waiting can not help. */
interface StoreState {
  readonly phase: 'starting' | 'ready' | 'failed';
  readonly detail: string;
}

const QUERY_TIMEOUT_MS = 20_000;
const RETRY_MS = 200;

/** Migrates the store to the schema of this code in the background, then runs the API's own queries. */
@Injectable()
export class StoreService implements OnApplicationShutdown {
  private readonly logger = new Logger('store');
  private readonly client: StoreClient;
  private readonly stopping = new AbortController();
  private state: StoreState = { phase: 'starting', detail: 'waiting for the store to answer' };
  private numAsked = 0;

  constructor(private readonly config: ApiConfig) {
    this.client = this.createClient(QUERY_TIMEOUT_MS);
  }

  get current(): StoreState {
    return this.state;
  }

  /** Queries of the API's own answers so far; those of separate clients are not counted. */
  get numQueries(): number {
    return this.numAsked;
  }

  /** A separate client, for work that must not delay the API's queries; the caller closes it. */
  createClient(requestTimeoutMs?: number): StoreClient {
    const { url, username, password, cluster } = this.config.store;
    return createStoreClient({ url, username, password, cluster, requestTimeoutMs });
  }

  /**
   * Waits for the store and runs the migrations.
   *
   * @throws StoreError when waiting longer would not help (wrong password, an edited migration)
   */
  async becomeReady(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        await this.client.ping();
        const { applied } = await migrate(this.client, { directory: this.config.migrationsDirectory });
        if (applied.length > 0) this.logger.log(`applied migrations ${applied.join(', ')}`);
        this.state = { phase: 'ready', detail: '' };
        return;
      } catch (error) {
        if (!(error instanceof StoreError) || !error.retriable) {
          this.state = { phase: 'failed', detail: error instanceof Error ? error.message : String(error) };
          throw error;
        }
        this.state = { phase: 'starting', detail: error.message };
        await sleep(RETRY_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      }
    }
  }

  /** Uses a store that another process has migrated. */
  takeAsReady(): void {
    this.state = { phase: 'ready', detail: '' };
  }

  /** @throws ProblemError `STORE_STARTING` until the store answers and has the schema of this code */
  requireReady(): void {
    if (this.state.phase === 'ready') return;
    throw new ProblemError('STORE_STARTING', `The store is not ready: ${this.state.detail}`);
  }

  /** Rows of a parameterised query, with columns in camelCase. `params` fill the `{name:Type}` placeholders. */
  async queryRows<Row>(sql: string, params: Readonly<Record<string, unknown>>): Promise<Row[]> {
    const rows = await this.reader.queryRows<Readonly<Record<string, unknown>>>(sql, { params });
    return camelCased(rows) as Row[];
  }

  /** For the questions of libraries, as of the moment that the request asks about. @throws ProblemError `STORE_STARTING` */
  get reader(): StoreReader {
    const { now } = this;
    return {
      queryRows: (sql, options) =>
        now.queryRows(sql, { ...options, settings: { ...options?.settings, ...requestSettings() } }),
    };
  }

  /** Whatever moment the request asks about. @throws ProblemError `STORE_STARTING` */
  get now(): Pick<StoreClient, 'queryRows' | 'layout'> {
    this.requireReady();
    return {
      layout: this.client.layout,
      queryRows: (sql, options) => {
        this.numAsked++;
        return this.client.queryRows(sql, options);
      },
    };
  }

  /** Whether the store answers now. */
  async answers(): Promise<boolean> {
    try {
      await this.client.ping();
      return true;
    } catch {
      return false;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.client.close();
  }
}

/** The rows with their columns named as the API names them: `episode_id` is `episodeId`. All rows of a result have the same columns. */
function camelCased(rows: readonly Readonly<Record<string, unknown>>[]): object[] {
  const columns = Object.keys(rows.at(0) ?? {});
  const names = columns.map((column) =>
    column.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
  );
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [names[i], row[column]])));
}
