import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendEvents } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { newRunId } from '@retrace/trajectory';
import { episodeEvents } from '@retrace/trajectory/testing';
import { Sink } from '../sink/sink.js';
import { untilVisible } from './until-visible.js';

describe('untilVisible', () => {
  let store: StoreFixture;
  const runId = newRunId();

  beforeAll(async () => {
    store = await openStoreFixture();
  });

  afterAll(() => store.close());

  async function numRows(): Promise<number> {
    const [{ n }] = await store.client.queryRows<{ n: number }>(
      'SELECT uniqExact(event_id) AS n FROM events WHERE run_id = {runId:String}',
      { params: { runId } },
    );
    return n;
  }

  it('waits for a running sink to write the records', async () => {
    const stop = new AbortController();
    const running = new Sink({ minInsertIntervalMs: 300 }).run({
      log: store.log,
      client: store.client,
      signal: stop.signal,
    });
    for (let ordinal = 0; ordinal < 4; ordinal++) {
      await appendEvents(store.log, episodeEvents({ logId: store.log.logId, runId, ordinal }));
      await untilVisible(store.log, store.client);
      expect(await numRows()).toBe(5 * (ordinal + 1));
    }
    stop.abort();
    await running;
  });

  it('writes the records itself where no sink is running', async () => {
    await appendEvents(store.log, episodeEvents({ logId: store.log.logId, runId, ordinal: 9 }));
    await untilVisible(store.log, store.client, { stallMs: 100 });
    expect(await numRows()).toBe(25);
  });

  it('ends when its signal aborts', async () => {
    await appendEvents(store.log, episodeEvents({ logId: store.log.logId, runId, ordinal: 10 }));
    const stop = new AbortController();
    const waiting = untilVisible(store.log, store.client, { stallMs: 2 ** 30, signal: stop.signal });
    setTimeout(() => {
      stop.abort();
    }, 100);
    await expect(waiting).rejects.toThrow();
    await expect(untilVisible(store.log, store.client, { signal: stop.signal })).rejects.toThrow();
    expect(await numRows()).toBe(25);
  });
});
