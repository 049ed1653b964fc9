import { appendEvents } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import type { AnyEvent } from '@retrace/trajectory';
import { Sink } from './sink.js';

/** A log and a store of a test, with a sink at work between them. */
export interface StoreWithSink extends StoreFixture {
  /** Appends events of one stream partition, and resolves once the store has them. */
  bring(events: readonly AnyEvent[]): Promise<void>;
}

/** `close` of what it resolves to stops the sink too. */
export async function openStoreWithSink(): Promise<StoreWithSink> {
  const store = await openStoreFixture();
  const stop = new AbortController();
  const sink = new Sink({ lingerMs: 2, minInsertIntervalMs: 2 });
  const running = sink.run({ log: store.log, client: store.client, signal: stop.signal });
  return {
    ...store,
    bring: async (events) => {
      const { partition, lastOffset } = await appendEvents(store.log, events);
      const stream = events[0].episodeId === '' ? 'control' : 'trajectories';
      await sink.caughtUpTo(stream, partition, lastOffset);
    },
    close: async () => {
      stop.abort();
      await running;
      await store.close();
    },
  };
}
