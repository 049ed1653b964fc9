import { appendEvents } from '@retrace/log/testing';
import { catchUp } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import type { AnyEvent } from '@retrace/trajectory';
import type { ApiConfig } from '../config/api-config.js';
import type { StoreService } from '../store/store.service.js';
import { configOver } from './store-config.js';

/** A log, its store, and the service by which the API asks it, for specs of what reads the store. */
export class ServedStore<Service extends StoreService> {
  private constructor(
    readonly fixture: StoreFixture,
    readonly config: ApiConfig,
    readonly store: Service,
  ) {}

  /** @param Store the service, or one that watches what it is asked */
  static async open<Service extends StoreService>(
    Store: new (config: ApiConfig) => Service,
  ): Promise<ServedStore<Service>> {
    const fixture = await openStoreFixture();
    try {
      const config = configOver(fixture);
      const store = new Store(config);
      store.takeAsReady();
      return new ServedStore(fixture, config, store);
    } catch (error) {
      await fixture.close();
      throw error;
    }
  }

  /** Appends events, each by itself, and waits until the store has them. */
  async write(...events: readonly AnyEvent[]): Promise<void> {
    const { log, client } = this.fixture;
    for (const event of events) await appendEvents(log, [event]);
    await catchUp(log, client);
  }

  /** Stores records of a run again, as an insert that is repeated does, and leaves both until `allowMerges`. */
  async storeAgain(runId: string, condition: string): Promise<void> {
    const { client } = this.fixture;
    await client.command('SYSTEM STOP MERGES events');
    const rows = `SELECT * FROM events WHERE run_id = {runId:String} AND ${condition}`;
    await client.command(`INSERT INTO events ${rows}`, { params: { runId } });
  }

  async allowMerges(): Promise<void> {
    await this.fixture.client.command('SYSTEM START MERGES events');
  }

  async close(): Promise<void> {
    await this.store.onApplicationShutdown();
    await this.fixture.close();
  }
}
