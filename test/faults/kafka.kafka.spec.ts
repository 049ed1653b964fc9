import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { startBroker, type StartedBroker } from '@retrace/log/kafka-broker';
import { FaultBench } from '../support/fault-bench.mjs';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';

describe.skipIf(reason !== '')(`sinks between a log on Kafka and a store${reason}`, () => {
  let broker: StartedBroker;
  let bench: FaultBench;

  beforeAll(async () => {
    broker = (await startBroker()) as StartedBroker;
  });
  afterEach(() => bench.close());
  afterAll(() => broker.close());

  async function rebalance(count: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const before = bench.sinks.splice(0);
    const shares = Array.from({ length: count }, (_, index) => ({ index, count }));
    await Promise.all(shares.map((share) => bench.startSink({ share })));
    // The old sinks run for a moment beside the new ones, with different shares.
    await Promise.all(before.map((sink) => sink.end(signal)));
  }

  it('sinks on Kafka: lose and double nothing while partitions are reassigned and the broker is killed during appends', async () => {
    bench = await FaultBench.open({ broker });
    const producing = [1, 2].map(async () => {
      for (let i = 0; i < 40; i += 1) {
        const events = bench.newEpisode();
        // Events that were not acknowledged are appended again, with the same ids.
        for (let isThere = false; !isThere;) {
          isThere = await bench.append(events).then(
            () => true,
            () => sleep(50, false),
          );
        }
        await sleep(10);
      }
    });
    await rebalance(3, 'SIGKILL');
    await rebalance(2, 'SIGKILL');
    await broker.command('kill');
    await rebalance(3, 'SIGTERM');
    await broker.command('start');
    await rebalance(1, 'SIGKILL');
    await Promise.all(producing);
    await bench.untilVisible({ withinMs: 60_000 });
    expect(await bench.audit()).toMatchObject({ faults: [], numSealedEpisodes: 80, numConflicts: 0 });
  }, 240_000);

  it('sinks on Kafka: stop where the topic lost records that the store does not have', async () => {
    bench = await FaultBench.open({ broker });
    await bench.startSink();
    await bench.appendEpisodes(9);
    await bench.untilVisible();
    for (const sink of bench.sinks.splice(0)) await sink.end();
    await bench.appendEpisodes(9);

    const topic = `${bench.kafkaPrefix}trajectories`;
    const { Kafka, logLevel } = kafkajs;
    const admin = new Kafka({ brokers: [broker.addresses.plaintext], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const ends = await admin.fetchTopicOffsets(topic);
    const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }));
    await admin.deleteTopicRecords({ topic, partitions });
    await admin.disconnect();

    const sink = await bench.startSink();
    await expect.poll(() => sink.said).toMatch(/LOG_TRUNCATED|LOG_RECORDS_MISSING/);
    const { faults } = await bench.audit();
    expect(faults).toContainEqual(expect.stringMatching(/^LOG_TRUNCATED trajectories/));
    expect(faults).toContainEqual(expect.stringMatching(/acknowledged events are not in the log/));
    expect(faults).toContainEqual(expect.stringMatching(/acknowledged events are not in the store/));
  });
});
