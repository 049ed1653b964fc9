/**
 * Measures the LMDB event log: durable appends and reads per second, the cost of following an idle log, and the time that a
 * record takes from one process to a follower in another.
 *
 *   npm run bench -- event-log
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openLmdbLog } from '@retrace/log/lmdb';
import { percentile } from './timing.mjs';

const RECORD_BYTES = 800;
const NUM_RECORDS = 40_000;
const NUM_LATENCIES = 300;

const open = (path) => openLmdbLog({ path, createdBy: 'bench', numTrajectoryPartitions: 4 });
const record = () => new Uint8Array(RECORD_BYTES).fill(7);

/** The child of the latency measurement: appends the current time at uneven intervals. */
async function appendTimes(path) {
  const log = await open(path);
  for (let i = 0; i < NUM_LATENCIES; i += 1) {
    await pause((i * 7) % 40);
    const now = Float64Array.of(performance.timeOrigin + performance.now());
    await log.append('trajectories', 0, [new Uint8Array(now.buffer)]);
  }
  await log.close();
}

async function measureThroughput(path, recordsPerAppend, appendsAtOnce) {
  const log = await open(path);
  const batch = Array.from({ length: recordsPerAppend }, record);
  const numAppends = Math.min(NUM_RECORDS / recordsPerAppend, 4_000);
  const startedAt = performance.now();
  for (let i = 0; i < numAppends; i += appendsAtOnce) {
    const appends = Array.from({ length: appendsAtOnce }, (_, n) => log.append('trajectories', n % 4, batch));
    await Promise.all(appends);
  }
  const tookMs = performance.now() - startedAt;
  await log.close();
  return (numAppends * recordsPerAppend * 1000) / tookMs;
}

async function measureReads(path) {
  const log = await open(path);
  const startedAt = performance.now();
  let numRead = 0;
  for (let partition = 0; partition < log.numPartitions('trajectories'); partition += 1) {
    for (let next = 0; ;) {
      const records = await log.read('trajectories', partition, next);
      if (records.length === 0) break;
      numRead += records.length;
      next = records[records.length - 1].offset + 1;
    }
  }
  const tookMs = performance.now() - startedAt;
  const bytesPerRecord = statSync(join(path, 'data.mdb')).size / numRead;
  await log.close();
  return { readsPerSecond: (numRead * 1000) / tookMs, bytesPerRecord };
}

async function measureIdleCpu(path) {
  const log = await open(path);
  const aborting = new globalThis.AbortController();
  const following = [0, 1, 2, 3].map(async (partition) => {
    const end = await log.endOffset('trajectories', partition);
    for await (const records of log.follow('trajectories', partition, end, { signal: aborting.signal })) {
      throw new Error(`The idle log returned ${records.length} records; expected none`);
    }
  });
  await pause(200);
  const before = process.cpuUsage();
  await pause(3_000);
  const { user, system } = process.cpuUsage(before);
  aborting.abort();
  await Promise.all(following);
  await log.close();
  return (user + system) / 1000 / 3_000;
}

async function measureLatencies(path) {
  const log = await open(path);
  const child = fork(fileURLToPath(import.meta.url), [path]);
  const latenciesMs = [];
  for await (const records of log.follow('trajectories', 0, 0)) {
    const now = performance.timeOrigin + performance.now();
    for (const { bytes } of records)
      latenciesMs.push(now - new Float64Array(Uint8Array.from(bytes).buffer)[0]);
    if (latenciesMs.length === NUM_LATENCIES) break;
  }
  await once(child, 'exit');
  await log.close();
  return (fraction) => percentile(latenciesMs, fraction);
}

async function inNewDirectory(measure) {
  const path = mkdtempSync(join(tmpdir(), 'retrace-bench-log-'));
  try {
    return await measure(path);
  } finally {
    rmSync(path, { recursive: true });
  }
}

async function main() {
  const figures = [];
  const add = (name, value, unit) => {
    figures.push({ name, value, unit });
    console.log(
      `${name.padEnd(64)} ${Number(value.toPrecision(3)).toLocaleString('en').padStart(10)} ${unit}`,
    );
  };
  await inNewDirectory(async (path) => {
    add('one record an append, one at a time', await measureThroughput(path, 1, 1), 'records/s');
    add('one record an append, 64 at a time', await measureThroughput(path, 1, 64), 'records/s');
    add('1,000 records an append, 4 at a time', await measureThroughput(path, 1_000, 4), 'records/s');
    const { readsPerSecond, bytesPerRecord } = await measureReads(path);
    add('read', readsPerSecond, 'records/s');
    add(`file size, records of ${RECORD_BYTES} bytes`, bytesPerRecord, 'bytes/record');
    add('four idle follows, share of one core', 100 * (await measureIdleCpu(path)), '%');
  });
  await inNewDirectory(async (path) => {
    const quantile = await measureLatencies(path);
    add('from append call in one process to follower in another, p50', quantile(0.5), 'ms');
    add('from append call in one process to follower in another, p99', quantile(0.99), 'ms');
  });
  if (process.env.RETRACE_RESULT_FILE) {
    const title = `LMDB event log, records of ${RECORD_BYTES} bytes`;
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
  }
}

await (process.argv[2] ? appendTimes(process.argv[2]) : main());
