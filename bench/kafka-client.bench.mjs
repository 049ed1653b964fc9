/**
 * Requests below kafkajs's public API beside the public API, and the CPU that an idle connection takes with and without the patch of
 * kafkajs's request queue: the reasons in libs/log/src/kafka/kafkajs-internals.ts. On one broker, by turns.
 *
 *   npm run bench -- kafka-client
 */
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { holdExclusively, openKafkaLog } from '@retrace/log/kafka';
import { startBroker } from '@retrace/log/kafka-broker';
import { connectBareProducer } from './bare-producer.mjs';
import { FigureTable } from './figure-table.mjs';
import { median } from './timing.mjs';

const PREFIX = 'client.';
const TOPIC = `${PREFIX}trajectories`;
const FIRST_OFFSET = 500;
const IDLE_MS = 4_000;

/** Median milliseconds of each function, called by turns. */
async function medianMs(times, functions) {
  const tookMs = functions.map(() => []);
  for (let i = 0; i < times; i++) {
    for (const [j, call] of functions.entries()) {
      const startedAt = performance.now();
      await call(i);
      tookMs[j].push(performance.now() - startedAt);
    }
  }
  return tookMs.map(median);
}

async function compare(table, name, times, ours, theirs) {
  const [oursMs, theirsMs] = await medianMs(times, [ours, theirs.call]);
  table.add(`${name}: Retrace`, oursMs, 'ms');
  table.add(`… kafkajs ${theirs.name}`, theirsMs, 'ms');
}

async function compareRequests(table, log, kafka) {
  const admin = kafka.admin();
  await admin.connect();
  await compare(table, 'end of a partition, of 8', 100, () => log.endOffset('trajectories', 0), {
    name: 'admin.fetchTopicOffsets',
    call: () => admin.fetchTopicOffsets(TOPIC),
  });
  await compare(table, 'cursor read', 100, () => log.readCursor('a', 'trajectories', 0), {
    name: 'admin.fetchOffsets',
    call: () => admin.fetchOffsets({ groupId: `${PREFIX}a`, topics: [TOPIC] }),
  });
  await compare(table, 'cursor committed', 3, (i) => log.commitCursor('a', 'trajectories', 0, i), {
    name: 'admin.setOffsets',
    call: (i) =>
      admin.setOffsets({
        groupId: `${PREFIX}b`,
        topic: TOPIC,
        partitions: [{ partition: 0, offset: `${i}` }],
      }),
  });
  await admin.disconnect();
}

async function firstRecordOfFollow(log) {
  for await (const [{ offset }] of log.follow('trajectories', 0, FIRST_OFFSET)) {
    if (offset !== FIRST_OFFSET) throw new Error(`first offset is ${offset}; must be ${FIRST_OFFSET}`);
    return;
  }
}

async function firstRecordOfConsumer(kafka, groupId) {
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: [TOPIC], fromBeginning: true });
  await new Promise((resolve, reject) => {
    const eachBatch = async ({ batch }) => {
      if (batch.partition === 0 && batch.firstOffset() === `${FIRST_OFFSET}`) resolve();
    };
    consumer.run({ autoCommit: false, eachBatch }).catch(reject);
    consumer.seek({ topic: TOPIC, partition: 0, offset: `${FIRST_OFFSET}` });
  });
  // Not awaited: that it takes long to leave a group is not part of what is measured.
  void consumer.disconnect();
}

/** kafkajs's own method and the one that replaces it, on the class that everything here uses. */
function requestQueueMethods() {
  const load = createRequire(import.meta.url);
  const path = load.resolve('kafkajs/src/network/requestQueue/index.js');
  const { prototype } = load(path);
  const patched = prototype.scheduleCheckPendingRequests;
  load.cache[path] = undefined;
  return { prototype, patched, unpatched: load(path).prototype.scheduleCheckPendingRequests };
}

async function shareOfCore() {
  const before = process.cpuUsage();
  await pause(IDLE_MS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 10 / IDLE_MS;
}

async function measureIdle(table, name) {
  const { prototype, patched, unpatched } = queueMethods;
  for (const [version, method] of [
    ['with the patch', patched],
    ['without it', unpatched],
  ]) {
    prototype.scheduleCheckPendingRequests = method;
    // A timer that was set by the other method ends in this time.
    await pause(3_000);
    table.add(`idle, ${name}, ${version}`, await shareOfCore(), '% of a core');
  }
  prototype.scheduleCheckPendingRequests = patched;
}

async function measureIdleFollowers(table, log) {
  const aborting = new AbortController();
  const following = [4, 5, 6, 7].map(async (partition) => {
    for await (const records of log.follow('trajectories', partition, 0, { signal: aborting.signal })) {
      throw new Error(`an idle log gave ${records.length} records`);
    }
  });
  await measureIdle(table, '4 followers');
  aborting.abort();
  await Promise.all(following);
}

async function measureAll(brokers, table) {
  const log = await openKafkaLog({
    brokers,
    prefix: PREFIX,
    createdBy: 'bench',
    numTrajectoryPartitions: 8,
  });
  const value = randomBytes(1_000);
  await log.append('trajectories', 0, Array(1_000).fill(value));
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  await compareRequests(table, log, kafka);
  await compare(table, 'first record of a new reader', 7, () => firstRecordOfFollow(log), {
    name: 'consumer, with no delay of a new group',
    call: (i) => firstRecordOfConsumer(kafka, `reader-${i}`),
  });
  const producer = await connectBareProducer(brokers);
  await compare(table, 'append of one record of 1 kB', 300, () => log.append('trajectories', 1, [value]), {
    name: 'producer.send',
    call: () => producer.send({ topic: TOPIC, acks: -1, messages: [{ value, partition: 2 }] }),
  });
  await producer.disconnect();
  await measureIdleFollowers(table, log);
  await log.close();
  const role = await holdExclusively({ brokers, prefix: PREFIX, createdBy: 'bench' }, 'role');
  await measureIdle(table, 'a held role');
  await role.release();
}

const queueMethods = requestQueueMethods();
const broker = await startBroker();
if ('unavailable' in broker) {
  console.log(`skipped, because ${broker.unavailable}`);
} else {
  const table = new FigureTable('Below the public API of kafkajs, and the public API');
  await measureAll([broker.addresses.plaintext], table);
  await broker.close();
  table.save();
}
