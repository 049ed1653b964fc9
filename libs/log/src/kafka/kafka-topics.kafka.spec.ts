import kafkajs, { type Admin } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { collect, readAll, texts } from '../contract/records.contract.js';
import { newPrefix, noBroker, onBroker, OpenLogs, setOnTopic, sharedBroker } from './broker.fixture.js';

const TOPIC = 2;
/** How long the broker of a loaded machine may take to apply a change. */
const WITHIN = { timeout: 120_000 };

describe.skipIf(noBroker)(onBroker('the topics of a log on Kafka'), () => {
  const logs = new OpenLogs();
  let admin: Admin;

  beforeAll(async () => {
    const { Kafka, logLevel } = kafkajs;
    admin = new Kafka({ brokers: [sharedBroker().plaintext], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  });
  afterEach(() => logs.close());
  afterAll(() => admin.disconnect());

  /** Brokers learn of a deletion a moment after it is done. */
  const remove = async (...topics: string[]) => {
    await admin.deleteTopics({ topics });
    const isListed = (topic: string) => topics.includes(topic);
    await vi.waitUntil(async () => !(await admin.listTopics()).some(isListed), WITHIN);
  };
  const recreate = async (topic: string, numPartitions: number) => {
    await remove(topic);
    const topics = [{ topic, numPartitions, replicationFactor: 1 }];
    // False also if an earlier attempt created the topic, but failed before its leaders were known.
    await vi.waitUntil(async () => {
      await admin.createTopics({ topics, waitForLeaders: true }).catch(() => false);
      return (await admin.listTopics()).includes(topic);
    }, WITHIN);
  };

  /** Adds partitions, and waits until the brokers know them. */
  const addPartitions = async (topic: string, count: number) => {
    await admin.createPartitions({ topicPartitions: [{ topic, count }] });
    await vi.waitUntil(async () => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      return topics[0].partitions.length === count;
    }, WITHIN);
  };

  it('are created with settings under which no acknowledged record is lost', async () => {
    const prefix = newPrefix();
    await logs.open({ prefix, numTrajectoryPartitions: 3, maxBatchBytes: 2 * 1024 * 1024 });
    const { topics } = await admin.fetchTopicMetadata({
      topics: [`${prefix}trajectories`, `${prefix}control`],
    });
    const numPartitions = Object.fromEntries(topics.map(({ name, partitions }) => [name, partitions.length]));
    expect(numPartitions).toEqual({ [`${prefix}trajectories`]: 3, [`${prefix}control`]: 1 });
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: TOPIC, name: `${prefix}trajectories` }],
    });
    const settings = Object.fromEntries(
      resources[0].configEntries.map(({ configName, configValue }) => [configName, configValue]),
    );
    expect(settings).toMatchObject({
      'cleanup.policy': 'delete',
      'retention.ms': '-1',
      'retention.bytes': '-1',
      'min.insync.replicas': '1',
      'max.message.bytes': String(2 * 1024 * 1024 + 1024),
      'unclean.leader.election.enable': 'false',
    });
  });

  it.each([
    ['trajectories', 'retention.ms', '3600000', 'must be -1 (for ever)'],
    ['control', 'retention.ms', '3600000', 'must be -1 (for ever)'],
    ['control', 'retention.bytes', '1000000', 'must be -1'],
    ['trajectories', 'cleanup.policy', 'compact', 'must be delete'],
    ['trajectories', 'max.message.bytes', '100000', 'must be at least 4195328'],
    ['trajectories', 'min.insync.replicas', '2', 'must be from 1 to 1'],
    ['control', 'unclean.leader.election.enable', 'true', 'must be false'],
  ])('are refused when %s has %s %s', async (stream, setting, value, rule) => {
    const prefix = newPrefix();
    await (await logs.open({ prefix })).close();
    await setOnTopic(admin, `${prefix}${stream}`, { [setting]: value });
    await expect(logs.open({ prefix })).rejects.toMatchObject({
      code: 'LOG_INCOMPATIBLE',
      retriable: false,
      message: expect.stringMatching(
        new RegExp(`topic ${prefix}${stream}: ${setting} is ${value}; ${rule.replace(/[()]/g, '\\$&')}`),
      ) as string,
    });
  });

  it('keep trajectories for the configured time', async () => {
    const prefix = newPrefix();
    const day = 86_400_000;
    await (await logs.open({ prefix, trajectoryRetentionMs: 7 * day })).close();
    await logs.open({ prefix, trajectoryRetentionMs: day });
    await expect(logs.open({ prefix, trajectoryRetentionMs: 8 * day })).rejects.toMatchObject({
      message: expect.stringContaining(
        `retention.ms is ${7 * day}; must be -1 or at least ${8 * day}`,
      ) as string,
    });
  });

  it('are refused when the number of partitions is not the configured or the original one', async () => {
    const prefix = newPrefix();
    await (await logs.open({ prefix, numTrajectoryPartitions: 2 })).close();
    await expect(logs.open({ prefix, numTrajectoryPartitions: 3 })).rejects.toMatchObject({
      code: 'LOG_INCOMPATIBLE',
      message: expect.stringContaining('the number of partitions is 2; must be 3') as string,
    });
    await addPartitions(`${prefix}trajectories`, 5);
    await expect(logs.open({ prefix, numTrajectoryPartitions: undefined })).rejects.toMatchObject({
      code: 'LOG_INCOMPATIBLE',
      message: expect.stringContaining('the number of partitions is 5; must be 2') as string,
    });
  });

  it('fail reads and follows when retention or a deletion removed records', async () => {
    const prefix = newPrefix();
    const log = await logs.open({ prefix });
    await log.append('trajectories', 0, texts('a', 'b', 'c', 'd', 'e'));
    // kafkajs finds the leader in the metadata that it has.
    await admin.fetchTopicOffsets(`${prefix}trajectories`);
    await admin.deleteTopicRecords({
      topic: `${prefix}trajectories`,
      partitions: [{ partition: 0, offset: '3' }],
    });
    expect(await log.startOffset('trajectories', 0)).toBe(3);
    expect((await log.read('trajectories', 0, 3)).map(({ offset }) => offset)).toEqual([3, 4]);
    const missing = {
      code: 'LOG_RECORDS_MISSING',
      retriable: false,
      message: expect.stringContaining('offset 1 was asked for, the partition holds 3 to 4') as string,
    };
    await expect(log.read('trajectories', 0, 1)).rejects.toMatchObject(missing);
    await expect(collect(log.follow('trajectories', 0, 1))).rejects.toMatchObject(missing);
    await expect(collect(log.follow('trajectories', 0, 9))).rejects.toMatchObject({
      code: 'LOG_RECORDS_MISSING',
    });
  });

  it('fail with LOG_REPLACED when one was created again, on opening and on an open handle', async () => {
    const prefix = newPrefix();
    const log = await logs.open({ prefix });
    await log.append('trajectories', 0, texts('a', 'b'));
    await recreate(`${prefix}trajectories`, 2);
    await expect(log.append('trajectories', 0, texts('c'))).rejects.toMatchObject({ code: 'LOG_REPLACED' });
    await expect(log.read('control', 0, 0)).rejects.toMatchObject({ code: 'LOG_REPLACED' });
    await setOnTopic(admin, `${prefix}trajectories`, {
      'max.message.bytes': '5000000',
      'unclean.leader.election.enable': 'false',
      'retention.ms': '-1',
    });
    await expect(logs.open({ prefix })).rejects.toMatchObject({
      code: 'LOG_REPLACED',
      message: expect.stringMatching(
        /topic .*trajectories has id .*; must be .*it was deleted and created again/,
      ) as string,
    });
  });

  it('are another log when both were created again', async () => {
    const prefix = newPrefix();
    const before = await logs.open({ prefix });
    await before.append('trajectories', 0, texts('a'));
    await before.close();
    await remove(`${prefix}trajectories`, `${prefix}control`);
    const after = await logs.open({ prefix });
    expect(after.logId).not.toBe(before.logId);
    expect(await readAll(after)).toEqual([]);
  });

  it('are not created when one is missing', async () => {
    const prefix = newPrefix();
    await (await logs.open({ prefix })).close();
    await remove(`${prefix}trajectories`);
    await expect(logs.open({ prefix })).rejects.toMatchObject({
      code: 'LOG_REPLACED',
      message: expect.stringContaining(`topic ${prefix}trajectories does not exist`) as string,
    });
  });

  it('are refused with a prefix or broker address that Kafka does not allow', async () => {
    await expect(logs.open({ prefix: 'a/b' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(logs.open({ brokers: ['localhost'] })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: "brokers is 'localhost'; must be host:port",
    });
  });
});
