import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import kafkajs, { type Admin } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readAll, decodeText, texts } from '../contract/records.contract.js';
import type { EventLog, LogRecord } from '../event-log.js';
import { newPrefix, noBroker, onBroker, OpenLogs, setOnTopic, sharedBroker } from './broker.fixture.js';

const { CompressionTypes, Kafka, logLevel } = kafkajs;
const KIB = 1024;

async function readRecords(log: EventLog, partition = 0): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for (let next = 0; ;) {
    const records = await log.read('trajectories', partition, next);
    if (records.length === 0) return all;
    all.push(...records);
    next = records[records.length - 1].offset + 1;
  }
}

describe.skipIf(noBroker)(onBroker('records in Kafka'), () => {
  const logs = new OpenLogs();
  let kafka: InstanceType<typeof Kafka>;
  let admin: Admin;

  beforeAll(async () => {
    kafka = new Kafka({ brokers: [sharedBroker().plaintext], logLevel: logLevel.NOTHING });
    admin = kafka.admin();
    await admin.connect();
  });
  afterEach(() => logs.close());
  afterAll(() => admin.disconnect());

  /** The messages as any other client finds them. */
  const fetchRaw = async (topic: string, count: number) => {
    const consumer = kafka.consumer({ groupId: newPrefix(), maxWaitTimeInMs: 100 });
    const values: { value: Buffer | null; headers: object }[] = [];
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      consumer
        .run({
          eachMessage: ({ message: { value, headers = {} } }) => {
            values.push({ value, headers });
            if (values.length === count) resolve();
            return Promise.resolve();
          },
        })
        .catch(reject);
    });
    await consumer.disconnect();
    return values;
  };

  it('are stored byte for byte, with nothing around them', async () => {
    const prefix = newPrefix();
    const log = await logs.open({ prefix, numTrajectoryPartitions: 1 });
    await log.append('trajectories', 0, texts('one', 'two'));
    const raw = await fetchRaw(`${prefix}trajectories`, 2);
    expect(raw.map(({ value, headers }) => [String(value), headers])).toEqual([
      ['one', {}],
      ['two', {}],
    ]);
  });

  it.each(['none', 'gzip', 'zstd'] as const)(
    'come back as they were with compression %s',
    async (compression) => {
      const log = await logs.open({ compression });
      const records = Array.from({ length: 50 }, (_, i) =>
        Buffer.concat([randomBytes(i * 20), Buffer.alloc(4_000, `${i}`)]),
      );
      await log.append('trajectories', 0, records);
      const read = await readRecords(log);
      expect(read.map(({ bytes }) => Buffer.from(bytes).toString('base64'))).toEqual(
        records.map((record) => record.toString('base64')),
      );
    },
  );

  it('are smaller on disk with compression', async () => {
    const sizes = new Map<string, number>();
    for (const compression of ['none', 'gzip', 'zstd'] as const) {
      const prefix = newPrefix();
      const log = await logs.open({ prefix, compression });
      await log.append('trajectories', 0, [Buffer.alloc(200 * KIB, 'abcdefgh')]);
      const file = `${sharedBroker().directory}/data/${prefix}trajectories-0/00000000000000000000.log`;
      sizes.set(compression, (await stat(file)).size);
    }
    expect(sizes.get('gzip')).toBeLessThan((sizes.get('none') ?? 0) / 20);
    expect(sizes.get('zstd')).toBeLessThan((sizes.get('none') ?? 0) / 20);
  });

  it('can be read when the broker compresses them with its own zstd', async () => {
    const prefix = newPrefix();
    const log = await logs.open({ prefix });
    await setOnTopic(admin, `${prefix}trajectories`, { 'compression.type': 'zstd' });
    const records = [randomBytes(300 * KIB), Buffer.alloc(2_000 * KIB, 'xyz')];
    await log.append('trajectories', 0, records);
    const read = await readRecords(log);
    expect(read.map(({ bytes }, i) => Buffer.compare(bytes, records[i]))).toEqual([0, 0]);
  });

  it('larger than a request are sent in fragments, which no reader sees, and land all at once', async () => {
    const log = await logs.open({ maxBatchBytes: 64 * KIB });
    const large = randomBytes(300 * KIB);
    const other = randomBytes(70 * KIB);
    await log.append('trajectories', 0, texts('before'));
    const append = log.append('trajectories', 0, [...texts('first'), large, ...texts('third'), other]);
    const beside = Array.from({ length: 20 }, (_, i) => log.append('trajectories', 0, texts(`beside ${i}`)));
    const { firstOffset } = await append;
    const landed = await Promise.all(beside);
    const read = await readRecords(log);
    const four = read.filter(({ offset }) => offset >= firstOffset).slice(0, 4);
    expect(four.map(({ offset }) => offset)).toEqual([0, 1, 2, 3].map((i) => firstOffset + i));
    expect([decodeText(four[0]), decodeText(four[2])]).toEqual(['first', 'third']);
    expect([Buffer.compare(four[1].bytes, large), Buffer.compare(four[3].bytes, other)]).toEqual([0, 0]);
    expect(read).toHaveLength(1 + 4 + 20);
    expect(landed.every((each) => each.firstOffset > firstOffset)).toBe(true);
    for await (const records of log.follow('trajectories', 0, firstOffset + 1)) {
      expect(Buffer.compare(records[0].bytes, large)).toBe(0);
      break;
    }
  });

  it('in fragments without a pointer are not read', async () => {
    const prefix = newPrefix();
    const log = await logs.open({ prefix, numTrajectoryPartitions: 1 });
    await log.append('trajectories', 0, texts('a'));
    const producer = kafka.producer();
    await producer.connect();
    const messages = [{ value: 'a part of what was never finished', headers: { retrace: 'fragment' } }];
    await producer.send({ topic: `${prefix}trajectories`, messages, compression: CompressionTypes.None });
    await producer.disconnect();
    await log.append('trajectories', 0, texts('b'));
    expect(await readAll(log)).toEqual([
      [0, 'a'],
      [2, 'b'],
    ]);
  });

  it('whose fragments are gone are dead letters, and later records can be read', async () => {
    const prefix = newPrefix();
    const log = await logs.open({ prefix, numTrajectoryPartitions: 1, maxBatchBytes: 64 * KIB });
    const { firstOffset } = await log.append('trajectories', 0, [randomBytes(150 * KIB), ...texts('next')]);
    await admin.fetchTopicOffsets(`${prefix}trajectories`);
    const offset = String(firstOffset);
    await admin.deleteTopicRecords({
      topic: `${prefix}trajectories`,
      partitions: [{ partition: 0, offset }],
    });
    const read = await log.read('trajectories', 0, firstOffset);
    expect(read[0].bytes.length).toBeLessThan(100);
    expect(decodeText(read[1])).toBe('next');
  });

  it('that don’t fit into one batch even in fragments are refused, and none of them lands', async () => {
    const log = await logs.open({ maxBatchBytes: 16 * KIB });
    const many = Array.from({ length: 2_000 }, () => new Uint8Array(10));
    await expect(log.append('trajectories', 0, many)).rejects.toMatchObject({
      code: 'LOG_APPEND_TOO_LARGE',
      message: expect.stringContaining(
        'append has 2000 records of 116000 bytes; must have at most 20000 records and 16384 bytes',
      ) as string,
    });
    expect(await log.endOffset('trajectories', 0)).toBe(0);
  });
});
