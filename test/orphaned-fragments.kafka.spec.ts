import { newRunId } from '@retrace/trajectory';
import { catchUp, Sink, untilVisible, verifyStore } from '@retrace/store';
import { openKafkaLog } from '@retrace/log/kafka';
import { appendEvents } from '@retrace/log/testing';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { openStoreFixture } from '@retrace/store-server/testing';
import kafkajs from 'kafkajs';
import { afterEach, describe, expect, inject, it } from 'vitest';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';

describe.skipIf(reason !== '')(
  `parts of an append that was cut short, at the end of a partition${reason}`,
  () => {
    const atEnd: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const clean of atEnd.splice(0).reverse()) await clean();
    });

    it('hold up nobody who waits for the store', async () => {
      if ('unavailable' in shared) return;
      const brokers = [shared.plaintext];
      const prefix = `orphans-${newRunId()}.`;
      const log = await openKafkaLog({ brokers, prefix, createdBy: 'test', numTrajectoryPartitions: 2 });
      atEnd.push(() => log.close());
      const store = await openStoreFixture();
      atEnd.push(() => store.close());
      const ids = { logId: log.logId, runId: newRunId() };
      await appendEvents(log, [controlEvent(ids, 'RunStarted')]);
      for (let ordinal = 0; ordinal < 4; ordinal++)
        await appendEvents(log, episodeEvents({ ...ids, ordinal }));

      const producer = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).producer();
      await producer.connect();
      atEnd.push(() => producer.disconnect());
      const orphan = { value: 'a part of what was never finished', headers: { retrace: 'fragment' } };
      for (const partition of [0, 1]) {
        const messages = [orphan, orphan].map((message) => ({ ...message, partition }));
        await producer.send({ topic: `${prefix}trajectories`, messages });
      }
      const end = await log.endOffset('trajectories', 0);
      expect(await log.read('trajectories', 0, end - 2)).toEqual([]);

      await catchUp(log, store.client);
      const verified = { ok: true, numPending: 0, numFaults: 0, numEpisodes: 4 };
      expect(await verifyStore({ log, client: store.client })).toMatchObject(verified);
      // Also where another sink runs, which is waited for.
      const stop = new AbortController();
      const running = new Sink().run({ log, client: store.client, signal: stop.signal });
      await untilVisible(log, store.client, { stallMs: 60_000 });
      // What comes behind them is carried on.
      await appendEvents(log, episodeEvents({ ...ids, ordinal: 4 }));
      await untilVisible(log, store.client, { stallMs: 60_000 });
      stop.abort();
      await running;
      expect(await verifyStore({ log, client: store.client })).toMatchObject({ ...verified, numEpisodes: 5 });
    });
  },
);
