import { brokerMethods } from './kafkajs-broker.fixture.js';
import type { Broker } from './kafkajs-internals.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { StartedBroker } from '../../kafka-broker/start-broker.mjs';
import { decodeEvent, encodeEvent } from '@retrace/trajectory/codec';
import { leastShareOfCore } from '../contract/idle-share.contract.js';
import { collect, readAll, decodeText, texts } from '../contract/records.contract.js';
import type { EventLog, LogRecord } from '../event-log.js';
import { sampleControlEvent } from '@retrace/trajectory/testing';
import { newPrefix, noBroker, onBroker, OpenLogs, startOwnBroker } from './broker.fixture.js';
import { KafkaConnection } from './kafka-connection.js';
import { resolveKafkaOptions } from './kafka-options.js';
import { PartitionProducer } from './partition-producer.js';
import { toMessage } from './record-batch.js';
import { TcpProxy } from './tcp-proxy.fixture.js';

/** A control event with a text that can be found in the bytes of an answer. */
function eventSaying(text: string): Buffer {
  return Buffer.from(encodeEvent(sampleControlEvent('LogOpened', { createdBy: text })));
}

/** Appends `label/0`, `label/1` … one by one until told to stop; returns the acknowledged ones. */
function appendSteadily(
  log: EventLog,
  label: string,
): { acknowledged: ReadonlyMap<number, string>; stop: () => Promise<void> } {
  const acknowledged = new Map<number, string>();
  let stopped = false;
  const running = (async () => {
    for (let i = 0; !stopped; i += 1) {
      const text = `${label}/${i}`;
      const { firstOffset } = await log.append('trajectories', 0, texts(text));
      acknowledged.set(firstOffset, text);
    }
  })();
  return {
    acknowledged,
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

describe.skipIf(noBroker)(onBroker('a log on Kafka when things go wrong'), () => {
  const logs = new OpenLogs();
  let broker: StartedBroker;
  let proxy: TcpProxy;

  beforeAll(async () => {
    proxy = await TcpProxy.listen();
    broker = await startOwnBroker({ proxiedPort: proxy.port });
    proxy.forwardTo(broker.addresses.proxied);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    proxy.onAnswer = (bytes) => bytes;
    await logs.close();
  });
  afterAll(async () => {
    await proxy.close();
    await broker.close();
  });

  const open = (options = {}) => logs.open({ brokers: [broker.addresses.plaintext], ...options });
  const openThroughProxy = (options = {}) => logs.open({ brokers: [proxy.address], ...options });

  it('loses and doubles no acknowledged record, and keeps following, when the broker is killed', async () => {
    const log = await open();
    const aborting = new AbortController();
    const seen: LogRecord[] = [];
    const following = (async () => {
      for await (const records of log.follow('trajectories', 0, 0, { signal: aborting.signal }))
        seen.push(...records);
    })();
    const writers = ['x', 'y'].map((label) => appendSteadily(log, label));
    const numAcknowledged = () => writers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
    const progress = async () => {
      const before = numAcknowledged();
      await vi.waitUntil(() => numAcknowledged() >= before + 30, { timeout: 120_000 });
    };
    for (let kills = 0; kills < 2; kills += 1) {
      await progress();
      await broker.command('kill');
      await new Promise((resolve) => setTimeout(resolve, 200));
      await broker.command('start');
    }
    await progress();
    await Promise.all(writers.map(({ stop }) => stop()));
    const acknowledged = writers.flatMap((writer) => [...writer.acknowledged]);
    const records = await readAll(log);
    await vi.waitFor(
      () => {
        expect(seen).toHaveLength(records.length);
      },
      { timeout: 120_000 },
    );
    aborting.abort();
    await following;

    expect(records).toEqual(acknowledged.sort(([a], [b]) => a - b));
    expect(seen.map((record) => [record.offset, decodeText(record)])).toEqual(records);
  });

  it('fails an append at its deadline, and appends under a new producer id after that', async () => {
    const produce = vi.spyOn(brokerMethods, 'produce');
    const log = await open({ deliveryTimeoutMs: 700, stallTimeoutMs: 500 });
    await log.append('trajectories', 0, texts('before'));
    await broker.command('kill');
    const started = performance.now();
    await expect(log.append('trajectories', 0, texts('lost'))).rejects.toMatchObject({
      name: 'LogError',
      code: 'LOG_UNREACHABLE',
      retriable: true,
    });
    expect(performance.now() - started).toBeLessThan(10_000);
    await broker.command('start');
    let numTries = 0;
    await vi.waitFor(() => log.append('trajectories', 0, texts(`after ${++numTries}`)), { timeout: 120_000 });
    // An attempt that was given up may still have landed.
    const landed = (await readAll(log)).map(([, text]) => text);
    expect(landed[0]).toBe('before');
    expect(landed).not.toContain('lost');
    expect(landed.filter((text) => text === `after ${numTries}`)).toHaveLength(1);
    const producerIds = produce.mock.calls.map(([{ producerId }]) => producerId);
    expect(producerIds.at(-1)).not.toBe(producerIds[1]);
  });

  it('sends one partition in each request, and one batch of a partition at a time', async () => {
    const log = await open({ numTrajectoryPartitions: 4 });
    let numUnderWay = 0;
    let most = 0;
    const real = brokerMethods.produce;
    const produce = vi.spyOn(brokerMethods, 'produce').mockImplementation(async function (
      this: Broker,
      request,
    ) {
      const isPartition0 = request.topicData[0].partitions[0].partition === 0;
      if (isPartition0) most = Math.max(most, ++numUnderWay);
      try {
        return await real.call(this, request);
      } finally {
        if (isPartition0) numUnderWay -= 1;
      }
    });
    const appends = Array.from({ length: 200 }, async (_, i) => {
      if (i % 20 === 19) await new Promise((resolve) => setTimeout(resolve, i / 10));
      return log.append('trajectories', i % 4, texts(`${i}`));
    });
    await Promise.all(appends);
    for (const [{ topicData, acks }] of produce.mock.calls) {
      expect(topicData).toHaveLength(1);
      expect(topicData[0].partitions).toHaveLength(1);
      expect(acks).toBe(-1);
    }
    expect(most).toBe(1);
    // Appends share requests, so there are far fewer requests than appends.
    expect(produce.mock.calls.length).toBeLessThan(100);
  });

  it('appends under a new producer id when the broker has lost count of the old one', async () => {
    const prefix = newPrefix();
    await (await open({ prefix })).close();
    const options = resolveKafkaOptions({ brokers: [broker.addresses.plaintext], prefix, createdBy: 'test' });
    const connection = new KafkaConnection(options);
    const topic = `${prefix}trajectories`;
    await connection.watchTopics([topic]);
    const identity = { producerId: '4611686018427387000', producerEpoch: 0 };
    const producers = [0, 1].map(
      () => new PartitionProducer({ connection, options, topic, partition: 0, identity }),
    );
    const messagesOf = (...values: string[]) => texts(...values).map(toMessage);
    expect(await producers[0].send(messagesOf('a', 'b', 'c'))).toBe(0);
    const produce = vi.spyOn(brokerMethods, 'produce');
    // The broker expects number 3 from this producer id and gets 0.
    expect(await producers[1].send(messagesOf('d'))).toBe(3);
    expect(produce).toHaveBeenCalledTimes(2);
    expect(produce.mock.calls[1][0].producerId).not.toBe(identity.producerId);
    connection.close();
  });

  it('does not double a batch whose acknowledgement got lost', async () => {
    const log = await openThroughProxy();
    await log.append('trajectories', 0, texts('a'));
    let numLost = 0;
    proxy.onAnswer = (bytes) => (numLost++ < 1 ? null : bytes);
    expect(await log.append('trajectories', 0, texts('b', 'c'))).toEqual({ firstOffset: 1 });
    expect(numLost).toBeGreaterThan(1);
    expect(await readAll(log)).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
    ]);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'appends and reads although one answer and the %i. one after it are lost',
    async (later) => {
      const log = await openThroughProxy({ requestDeadlineMs: 5_000 });
      await log.append('trajectories', 0, texts('a'));
      let numAnswers = 0;
      proxy.onAnswer = (bytes) => ([0, later].includes(numAnswers++) ? null : bytes);
      expect(await log.append('trajectories', 0, texts('b'))).toEqual({ firstOffset: 1 });
      expect(await readAll(log)).toHaveLength(2);
    },
  );

  it('finds the cluster through the only broker of the list that answers', async () => {
    const dead = ['127.0.0.1:1', '127.0.0.1:2'];
    const log = await logs.open({ brokers: [...dead, broker.addresses.plaintext] });
    expect(await log.append('trajectories', 0, texts('a'))).toEqual({ firstOffset: 0 });
  });

  it('reconnects appends, reads and follows when a broker falls silent', async () => {
    const log = await openThroughProxy({ stallTimeoutMs: 400, fetchWaitMs: 100 });
    await log.append('trajectories', 0, texts('a'));
    const following = log.follow('trajectories', 0, 0)[Symbol.asyncIterator]();
    expect((await following.next()).value).toHaveLength(1);
    const next = following.next();
    const silentSince = performance.now();
    proxy.silenceConnections();
    expect(await log.append('trajectories', 0, texts('b'))).toEqual({ firstOffset: 1 });
    const { value } = (await next) as { value: LogRecord[] };
    expect(value.map(decodeText)).toEqual(['b']);
    // kafkajs's own time limit is ten times as long in this test.
    expect(performance.now() - silentSince).toBeLessThan(3_000);
    proxy.silenceConnections();
    expect(await log.endOffset('trajectories', 0)).toBe(2);
    expect(await readAll(log)).toHaveLength(2);
    await following.return?.();
  });

  it('fetches a record again that was damaged in transit', async () => {
    const log = await openThroughProxy();
    await log.append('trajectories', 0, [
      eventSaying('a neighbour'),
      eventSaying('a marked text'),
      eventSaying('another'),
    ]);
    let numDamaged = 0;
    proxy.onAnswer = (bytes) => {
      const at = bytes.indexOf('a marked text');
      if (at >= 0 && numDamaged < 1) {
        numDamaged += 1;
        bytes[at] ^= 1;
      }
      return bytes;
    };
    const records = await log.read('trajectories', 0, 0);
    expect(numDamaged).toBe(1);
    expect(records.map(({ bytes }) => decodeEvent(bytes).ok)).toEqual([true, true, true]);
  });

  it('returns a record that is damaged in the log, whose checksum shows that to every reader', async () => {
    const log = await open();
    const damaged = eventSaying('text');
    damaged[damaged.length - 1] ^= 1;
    await log.append('trajectories', 0, [eventSaying('before'), damaged, eventSaying('after')]);
    const decoded = (await log.read('trajectories', 0, 0)).map(({ bytes }) => decodeEvent(bytes));
    expect(decoded.map((event) => (event.ok ? 'ok' : event.code))).toEqual(['ok', 'CHECKSUM_MISMATCH', 'ok']);
  });

  it('ends an aborted follow at once while the broker is unavailable', async () => {
    const log = await open();
    const aborting = new AbortController();
    const following = collect(log.follow('trajectories', 0, 0, { signal: aborting.signal }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await broker.command('kill');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const started = performance.now();
    aborting.abort();
    expect(await following).toEqual([]);
    expect(performance.now() - started).toBeLessThan(15_000);
    await broker.command('start');
  });

  it('takes less than 2 % of a core while it follows and no record arrives', async () => {
    const log = await open();
    const aborting = new AbortController();
    const following = [0, 1].map((partition) =>
      collect(log.follow('trajectories', partition, 0, { signal: aborting.signal })),
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    const share = await leastShareOfCore({ stretches: 4, stretchMs: 1_000 });
    aborting.abort();
    await Promise.all(following);
    expect(share).toBeLessThan(0.02);
  });
});
