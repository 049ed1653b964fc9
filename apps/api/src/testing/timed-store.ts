import { StoreService } from '../store/store.service.js';

/** A store of which a test says how long queries take, and what happens after one. */
export class TimedStore extends StoreService {
  queryMs = 0;
  nowMs = 0;
  afterQuery: (() => Promise<void>) | null = null;

  override async queryRows<Row>(sql: string, params: Readonly<Record<string, unknown>>): Promise<Row[]> {
    const rows = await super.queryRows<Row>(sql, params);
    this.nowMs += this.queryMs;
    const { afterQuery } = this;
    this.afterQuery = null;
    await afterQuery?.();
    return rows;
  }
}
