/**
 * The event log on Kafka against kafkajs's own producer, on one real broker (libs/log/kafka-broker) in this process's run: records
 * of equal bytes, batches of equal bytes, one partition, acknowledged by all replicas, both idempotent. Incompressible bytes. Also how fast it
 * reads, how long a record takes to a follower, and what following costs while nothing happens.
 *
 *   npm run bench -- kafka
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { openKafkaLog } from '@retrace/log/kafka';
import { startBroker } from '@retrace/log/kafka-broker';
import { connectBareProducer } from './bare-producer.mjs';
import { median, percentile } from './timing.mjs';

/** Bytes a record: small events, the text of a step, a step with 256 tokens. */
const CASES = [
  { recordBytes: 100, numRecords: 200_000 },
  { recordBytes: 1_000, numRecords: 60_000 },
  { recordBytes: 4_300, numRecords: 20_000 },
];
const BATCH_BYTES = 256 * 1024;
const APPENDS_AT_ONCE = 4;
const ROUNDS = 3;
const NUM_LATENCIES = 200;

function makeBatch(recordBytes) {
  const count = Math.max(1, Math.round(BATCH_BYTES / recordBytes));
  return Array.from({ length: count }, () => randomBytes(recordBytes));
}

/** Records a second through `sendBatch`, which gets as many batches as make `numRecords`. */
async function measure(sendBatch, batch, numRecords, atOnce) {
  const numBatches = Math.ceil(numRecords / batch.length);
  const startedAt = performance.now();
  let next = 0;
  const workers = Array.from({ length: atOnce }, async () => {
    while (next++ < numBatches) await sendBatch(batch);
  });
  await Promise.all(workers);
  return (numBatches * batch.length * 1000) / (performance.now() - startedAt);
}

async function compareProduce(brokers, { recordBytes, numRecords }) {
  const prefix = `bench-${recordBytes}.`;
  const log = await openKafkaLog({ brokers, prefix, createdBy: 'bench', numTrajectoryPartitions: 2 });
  const producer = await connectBareProducer(brokers);
  const batch = makeBatch(recordBytes);
  const messages = batch.map((value) => ({ value, partition: 1 }));
  const topic = `${prefix}trajectories`;
  const ours = (records) => log.append('trajectories', 0, records);
  const bare = () => producer.send({ topic, messages, acks: -1 });
  const rates = { ours: [], bare: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bareRate = await measure(bare, batch, numRecords, APPENDS_AT_ONCE);
    const ourRate = await measure(ours, batch, numRecords, APPENDS_AT_ONCE);
    // The first round warms up.
    if (round === 0) continue;
    rates.bare.push(bareRate);
    rates.ours.push(ourRate);
  }
  await producer.disconnect();
  const readsPerSecond = await measureReads(log);
  await log.close();
  const oursPerSecond = median(rates.ours);
  const barePerSecond = median(rates.bare);
  return { recordBytes, oursPerSecond, barePerSecond, ratio: barePerSecond / oursPerSecond, readsPerSecond };
}

async function measureReads(log) {
  const end = Math.min(await log.endOffset('trajectories', 0), 60_000);
  const startedAt = performance.now();
  let numRead = 0;
  for await (const records of log.follow('trajectories', 0, 0)) {
    numRead += records.length;
    if (numRead >= end) break;
  }
  return (numRead * 1000) / (performance.now() - startedAt);
}

async function measureLatency(log) {
  const latenciesMs = [];
  const follower = log.follow('trajectories', 0, 0);
  const following = (async () => {
    for await (const records of follower) {
      const now = performance.now();
      for (const { bytes } of records) latenciesMs.push(now - Buffer.from(bytes).readDoubleLE(0));
      if (latenciesMs.length >= NUM_LATENCIES) break;
    }
  })();
  for (let i = 0; i < NUM_LATENCIES; i += 1) {
    await pause((i * 7) % 20);
    const bytes = Buffer.alloc(1_000);
    bytes.writeDoubleLE(performance.now(), 0);
    await log.append('trajectories', 0, [bytes]);
  }
  await following;
  return { p50Ms: median(latenciesMs), p99Ms: percentile(latenciesMs, 0.99) };
}

async function measureIdleCpu(log) {
  const aborting = new AbortController();
  const following = [1, 2, 3, 4].map(async (partition) => {
    for await (const records of log.follow('trajectories', partition, 0, { signal: aborting.signal })) {
      throw new Error(`an idle log gave ${records.length} records`);
    }
  });
  await pause(500);
  const before = process.cpuUsage();
  await pause(5_000);
  const { user, system } = process.cpuUsage(before);
  aborting.abort();
  await Promise.all(following);
  return (user + system) / 1000 / 5_000;
}

const broker = await startBroker();
if ('unavailable' in broker) {
  console.log(`skipped, because ${broker.unavailable}`);
} else {
  const brokers = [broker.addresses.plaintext];
  const rows = [];
  for (const each of CASES) rows.push(await compareProduce(brokers, each));
  const log = await openKafkaLog({ brokers, prefix: 'bench.', createdBy: 'bench' });
  const latency = await measureLatency(log);
  const idleCpuFraction = await measureIdleCpu(log);
  await log.close();
  await broker.close();

  console.log(
    `batches of ${BATCH_BYTES / 1024} KiB, ${APPENDS_AT_ONCE} at once; medians of ${ROUNDS} rounds`,
  );
  console.log('bytes/record   append/s   MB/s   kafkajs send/s   ratio   follow/s');
  for (const { recordBytes, oursPerSecond, barePerSecond, ratio, readsPerSecond } of rows) {
    console.log(
      [
        String(recordBytes).padStart(12),
        oursPerSecond.toFixed(0).padStart(10),
        ((oursPerSecond * recordBytes) / 1e6).toFixed(0).padStart(6),
        barePerSecond.toFixed(0).padStart(16),
        ratio.toFixed(2).padStart(7),
        readsPerSecond.toFixed(0).padStart(10),
      ].join(' '),
    );
  }
  console.log(`append to follower: p50 ${latency.p50Ms.toFixed(1)} ms, p99 ${latency.p99Ms.toFixed(1)} ms`);
  console.log(`idle, 4 followers: ${(idleCpuFraction * 100).toFixed(2)} % of a core`);
  if (process.env.RETRACE_RESULT_FILE) {
    const figures = rows.flatMap(({ recordBytes, oursPerSecond, barePerSecond, ratio, readsPerSecond }) => [
      { name: `append, records of ${recordBytes} bytes`, value: oursPerSecond, unit: 'records/s' },
      { name: `kafkajs send, records of ${recordBytes} bytes`, value: barePerSecond, unit: 'records/s' },
      { name: `kafkajs rate over ours, records of ${recordBytes} bytes`, value: ratio },
      { name: `follow, records of ${recordBytes} bytes`, value: readsPerSecond, unit: 'records/s' },
    ]);
    figures.push({ name: 'append to follower, p50', value: latency.p50Ms, unit: 'ms' });
    figures.push({ name: 'append to follower, p99', value: latency.p99Ms, unit: 'ms' });
    figures.push({ name: 'four idle follows, share of one core', value: 100 * idleCpuFraction, unit: '%' });
    const title = 'Event log on one Kafka broker, beside kafkajs alone';
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
  }
  const slowest = Math.max(...rows.map(({ ratio }) => ratio));
  console.log(`slowest against kafkajs alone: ${slowest.toFixed(2)} times (must be at most 2)`);
  process.exitCode = slowest <= 2 ? 0 : 1;
}
