/**
 * Measures the way from an event to its acknowledgement: the collector's writer on the log, called as a collector calls it. An event
 * counts once it was made, checked, encoded, batched and is durable. Steps have 1 kB of random text and 256 tokens; then small events.
 * Runs on LMDB and on Kafka, where it is compared with kafkajs by itself.
 *
 *   npm run bench -- writer [-- --seconds 6]
 */
import { Buffer } from 'node:buffer';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { TrajectoryWriter } from '@retrace/collector';
import { newRunId } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { openKafkaLog } from '@retrace/log/kafka';
import { openLmdbLog } from '@retrace/log/lmdb';
import { startBroker } from '@retrace/log/kafka-broker';
import { connectBareProducer } from './bare-producer.mjs';
import { FigureTable } from './figure-table.mjs';
import {
  EpisodeSource,
  RewardSource,
  STEP_BYTES,
  STEPS_PER_EPISODE,
  TOKENS_PER_STEP,
} from './sample-episodes.mjs';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '6' } } });
const measuredMs = Number(values.seconds) * 1000;
/** Records in one batch of kafkajs by itself: 1 MB. */
const BARE_EPISODES = 50;

/** Returns the CPU time of the process with all threads: encoding, and the work of LMDB and zlib. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function writtenBytes() {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

/** Measures acknowledged events per second, after a first second that does not count. */
async function measure(log, turn) {
  const writer = await TrajectoryWriter.open(log);
  let next = 0;
  const during = async (durationMs) => {
    const startedAt = performance.now();
    let numEvents = 0;
    while (performance.now() - startedAt < durationMs) {
      for (const event of turn(next++)) {
        writer.write(event);
        numEvents++;
      }
      await writer.betweenTurns();
    }
    await writer.flush();
    return { numEvents, tookMs: performance.now() - startedAt };
  };
  await during(1_000);
  const cpuBefore = cpuMs();
  const bytesBefore = writtenBytes();
  const { numEvents, tookMs } = await during(measuredMs);
  return {
    eventsPerSecond: (1000 * numEvents) / tookMs,
    cpuUsPerEvent: (1000 * (cpuMs() - cpuBefore)) / numEvents,
    diskBytesPerEvent: (writtenBytes() - bytesBefore) / numEvents,
    waitedFraction: (1000 * writer.takeWaitedSeconds()) / tookMs,
  };
}

async function measureLmdb(table) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-bench-writer-'));
  const log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'bench' });
  try {
    await measureSteps('lmdb', log, table, { least: 20_000 });
    await measureSmallEvents('lmdb', log, table, { least: 100_000 });
  } finally {
    await log.close();
    rmSync(directory, { recursive: true });
  }
}

/** Measures kafkajs's own producer with the same records, made in advance, in batches as large as the writer's. */
async function measureKafka(table) {
  const broker = await startBroker();
  if ('unavailable' in broker) {
    console.log(`kafka: skipped, because ${broker.unavailable}`);
    return;
  }
  const brokers = [broker.addresses.plaintext];
  const log = await openKafkaLog({ brokers, createdBy: 'bench', numTrajectoryPartitions: 1 });
  try {
    const bare = async () => (await measureBareSteps(brokers)) / 2;
    const before = await bare();
    const ours = await measureSteps('kafka', log, table);
    const barePerSecond = before + (await bare());
    const name = `kafka: kafkajs alone, the same records made beforehand`;
    table.add(name, barePerSecond, 'steps/s');
    table.add('… its rate over the writer’s', barePerSecond / ours, '×', { most: 2 }, { required: true });
    await measureSmallEvents('kafka', log, table);
  } finally {
    await log.close();
    await broker.close();
  }
}

/** Appends to a topic of its own, created with the settings of the log's. */
async function measureBareSteps(brokers) {
  const log = await openKafkaLog({
    brokers,
    prefix: 'bare.',
    createdBy: 'bench',
    numTrajectoryPartitions: 1,
  });
  await log.close();
  const source = new EpisodeSource({ logId: log.logId, runId: newRunId() });
  const records = Array.from({ length: BARE_EPISODES }, (_, i) =>
    [...source.episode(i)].map(encodeEvent),
  ).flat();
  const messages = records.map((record) => ({ value: Buffer.from(record), partition: 0 }));
  const producer = await connectBareProducer(brokers);
  const send = () => producer.send({ topic: 'bare.trajectories', messages, acks: -1 });
  for (let i = 0; i < 20; i++) await send();
  let numSends = 0;
  const startedAt = performance.now();
  const loop = async () => {
    for (; performance.now() - startedAt < measuredMs / 2; numSends++) await send();
  };
  await Promise.all([loop(), loop()]);
  const seconds = (performance.now() - startedAt) / 1000;
  await producer.disconnect();
  return (numSends * BARE_EPISODES * STEPS_PER_EPISODE) / seconds;
}

async function measureSteps(kind, log, table, aim) {
  const source = new EpisodeSource({ logId: log.logId, runId: newRunId() });
  const steps = await measure(log, (ordinal) => source.episode(ordinal));
  const stepsPerSecond = (steps.eventsPerSecond * STEPS_PER_EPISODE) / (STEPS_PER_EPISODE + 2);
  const recordBytes = encodeEvent([...source.episode(0)][1]).length;
  const megabytes = (bytes) => (stepsPerSecond * bytes) / 1e6;
  table.add(`${kind}: steps appended durably`, stepsPerSecond, 'steps/s', aim);
  table.add('… their tokens', stepsPerSecond * TOKENS_PER_STEP, 'tokens/s');
  table.add(
    `… their columns, ${STEP_BYTES} bytes a step`,
    megabytes(STEP_BYTES),
    'MB/s',
    aim && { least: 85 },
  );
  table.add(`… their records, ${recordBytes} bytes a step`, megabytes(recordBytes), 'MB/s');
  table.add('… CPU of all threads of this process, an event', steps.cpuUsPerEvent, 'µs');
  table.add('… share of the time waiting for the log', 100 * steps.waitedFraction, '%');
  if (kind === 'lmdb') table.add('… written to the disk', steps.diskBytesPerEvent, 'bytes/event');
  return stepsPerSecond;
}

async function measureSmallEvents(kind, log, table, aim) {
  const source = new RewardSource({ logId: log.logId, runId: newRunId() });
  const small = await measure(log, (ordinal) => source.episode(ordinal));
  const smallBytes = encodeEvent(source.episode(0).next().value).length;
  const name = `${kind}: small events (RewardAssigned, ${smallBytes} bytes) appended durably`;
  table.add(name, small.eventsPerSecond, 'events/s', aim);
  table.add('… CPU of all threads of this process, an event', small.cpuUsPerEvent, 'µs');
}

const table = new FigureTable('Appending: events to the durable log, through the collector’s writer');
await measureLmdb(table);
await measureKafka(table);
table.save();
