/**
 * The way through the embedded store: what the sink carries, what it costs on disk, how soon a row can be seen, and what
 * training and listings read. Steps as in the store's design: 1 kB of incompressible text and 256 tokens, half of them sampled.
 *
 *   npm run bench -- store
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { episodeIdFor, newEpisodeEvent, newRunId, sealEpisode } from '@retrace/trajectory';
import {
  createStoreClient,
  migrate,
  Sink,
  TrajectoryReader,
  verifyStore,
} from '@retrace/trajectory/clickhouse';
import { encodeEvent } from '@retrace/trajectory/codec';
import { openLmdbLog } from '@retrace/trajectory/lmdb';
import { startStoreServer } from '@retrace/trajectory/store-server';

const NUM_EPISODES = 2_000;
const NUM_STEPS = 6;
const NUM_TOKENS = 256;
const VOCABULARY = 150_000;
const BATCH_EPISODES = 256;
const LATENCY_SECONDS = 10;
const USER = { username: 'retrace', password: 'bench' };

async function serveStore(directory) {
  const users = [{ name: USER.username, password: USER.password, access: 'full' }];
  const server = await startStoreServer({ dataDirectory: directory, host: '127.0.0.1', port: 0, users });
  process.send(server.url);
  process.once('disconnect', () => process.exit());
}

function newStep(step) {
  const numObserved = NUM_TOKENS / 2;
  const sampled = (value) =>
    Float32Array.from({ length: NUM_TOKENS }, (_, t) => (t < numObserved ? 0 : value()));
  return {
    step,
    observation: randomBytes(384).toString('hex'),
    action: randomBytes(128).toString('hex'),
    parsedAction: 'move',
    actionValid: true,
    anchor: null,
    reward: step === NUM_STEPS - 1 ? 1 : null,
    rewardNames: [],
    rewardValues: new Float64Array(0),
    terminated: step === NUM_STEPS - 1,
    truncated: false,
    info: {},
    keptPrefixTokens: step * NUM_TOKENS,
    sampling: { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 128 },
    engine: 'bench',
    model: 'bench',
    tokenizerHash: '0',
    logprobMode: 'processed',
    generationMs: 1,
    environmentMs: 0,
    snapshot: null,
    tokenIds: Int32Array.from({ length: NUM_TOKENS }, () => Math.floor(Math.random() * VOCABULARY)),
    actionMask: Uint8Array.from({ length: NUM_TOKENS }, (_, t) => (t < numObserved ? 0 : 1)),
    tokenLogprobs: sampled(() => 3 * Math.log(Math.random())),
    tokenRawLogprobs: null,
    tokenEntropies: null,
    tokenPolicyVersions: new Int32Array(NUM_TOKENS).fill(3),
  };
}

function encodeEpisode(logId, runId, ordinal) {
  const common = {
    logId,
    runId,
    episodeId: episodeIdFor({ runId, ordinal }),
    occurredAtUs: Date.now() * 1000,
  };
  const steps = Array.from({ length: NUM_STEPS }, (_, step) => newStep(step));
  const started = {
    groupId: `group ${Math.floor(ordinal / 8)}`,
    groupSize: 8,
    groupMember: ordinal % 8,
    environment: 'bench',
    task: {},
    environmentSeed: ordinal,
    samplingSeed: ordinal,
    split: 'train',
    agent: 'policy',
    forkedFrom: null,
  };
  const ended = sealEpisode(steps, {
    endReason: 'terminated',
    success: true,
    finalObservation: '',
    finalTokenIds: new Int32Array(0),
    finalKeptPrefixTokens: 0,
  });
  return [
    newEpisodeEvent({ ...common, kind: 'EpisodeStarted', seq: 0, payload: started }),
    ...steps.map((payload, i) => newEpisodeEvent({ ...common, kind: 'StepRecorded', seq: i + 1, payload })),
    newEpisodeEvent({ ...common, kind: 'EpisodeEnded', seq: NUM_STEPS + 1, payload: ended }),
  ].map(encodeEvent);
}

/** CPU time of a process so far, in ms, from clock ticks of 10 ms. */
function cpuMsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
  return 10 * (Number(fields[13]) + Number(fields[14]));
}

function startSink({ log, client }) {
  const stop = new globalThis.AbortController();
  const sink = new Sink();
  const running = sink.run({ log, client, signal: stop.signal });
  return {
    sink,
    async stop() {
      stop.abort();
      await running;
    },
  };
}

async function measureThroughput({ log, client, runId }, add) {
  let numBytes = 0;
  for (let ordinal = 0; ordinal < NUM_EPISODES; ordinal++) {
    const records = encodeEpisode(log.logId, runId, ordinal);
    for (const record of records) numBytes += record.length;
    await log.append('trajectories', 0, records);
  }
  const numRows = NUM_EPISODES * (NUM_STEPS + 2);
  const numTokens = NUM_EPISODES * NUM_STEPS * NUM_TOKENS;
  const { sink, stop } = startSink({ log, client });
  const startedAt = performance.now();
  await sink.caughtUpTo('trajectories', 0, numRows - 1);
  const seconds = (performance.now() - startedAt) / 1000;
  await stop();
  add('sink, rows', numRows / seconds, 'rows/s');
  add('sink, records', numBytes / 1e6 / seconds, 'MB/s');
  add('sink, tokens', numTokens / seconds, 'tokens/s');

  await client.command('OPTIMIZE TABLE events FINAL');
  const [{ tokenBytes, allBytes }] = await client.queryRows(
    `SELECT
       sumIf(column_data_compressed_bytes, column LIKE 'token\\_%' OR column = 'action_mask') AS tokenBytes,
       sum(column_data_compressed_bytes) AS allBytes
     FROM system.parts_columns WHERE table = 'events' AND active`,
  );
  add('on disk, token columns', tokenBytes / numTokens, 'bytes/token');
  add('on disk, everything', allBytes / numTokens, 'bytes/token');
}

async function timeOf(repetitions, work) {
  const tookMs = [];
  for (let i = 0; i < repetitions; i++) {
    const startedAt = performance.now();
    await work();
    tookMs.push(performance.now() - startedAt);
  }
  return tookMs.sort((a, b) => a - b)[repetitions >> 1];
}

async function measureReads({ client, runId }, add) {
  const reader = new TrajectoryReader(client);
  const idOf = (ordinal) => episodeIdFor({ runId, ordinal });
  const recent = Array.from({ length: BATCH_EPISODES }, (_, i) => idOf(NUM_EPISODES - BATCH_EPISODES + i));
  const random = Array.from({ length: BATCH_EPISODES }, (_, i) => idOf((i * 7919) % NUM_EPISODES));
  add(
    'read 256 neighbouring episodes of 6 steps',
    await timeOf(15, () => reader.readEpisodes(runId, recent)),
    'ms',
  );
  add('read 256 episodes picked at random', await timeOf(15, () => reader.readEpisodes(runId, random)), 'ms');
  const params = { runId, low: recent[0], high: recent[50] };
  const page = `SELECT * FROM episodes WHERE run_id = {runId:String} AND episode_id BETWEEN {low:String} AND {high:String}`;
  add('list a page of 51 episodes', await timeOf(15, () => client.queryRows(page, { params })), 'ms');
}

async function measureLatency({ log, client, storePid }, add) {
  const runId = newRunId();
  const { sink, stop } = startSink({ log, client });
  const tookMs = [];
  const waits = [];
  const cpuBefore = cpuMsOf(storePid);
  const startedAt = performance.now();
  for (let ordinal = 0; performance.now() - startedAt < LATENCY_SECONDS * 1000; ordinal++) {
    const records = encodeEpisode(log.logId, runId, ordinal);
    const at = performance.now();
    const { firstOffset } = await log.append('trajectories', 0, records);
    const visible = sink.caughtUpTo('trajectories', 0, firstOffset + records.length - 1);
    waits.push(visible.then(() => tookMs.push(performance.now() - at)));
    await pause(25);
  }
  await Promise.all(waits);
  const elapsedMs = performance.now() - startedAt;
  const numInserts = sink.progress().partitions.reduce((sum, progress) => sum + progress.numInserts, 0);
  const cpuMs = cpuMsOf(storePid) - cpuBefore;
  await stop();
  tookMs.sort((a, b) => a - b);
  add('append to visible, p50', tookMs[Math.floor(0.5 * tookMs.length)], 'ms');
  add('append to visible, p99', tookMs[Math.floor(0.99 * tookMs.length)], 'ms');
  add('inserts while measured', (1000 * numInserts) / elapsedMs, 'inserts/s');
  add('CPU of the store an insert, merges included', cpuMs / numInserts, 'ms');
}

async function main() {
  const figures = [];
  const add = (name, value, unit) => {
    figures.push({ name, value, unit });
    console.log(
      `${name.padEnd(48)} ${Number(value.toPrecision(3)).toLocaleString('en').padStart(12)} ${unit}`,
    );
  };
  const directory = mkdtempSync(join(tmpdir(), 'retrace-bench-store-'));
  const store = fork(fileURLToPath(import.meta.url), [join(directory, 'store')], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '12' },
  });
  try {
    const [url] = await once(store, 'message');
    const client = createStoreClient({ url, ...USER });
    await migrate(client);
    const log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'bench' });
    const bench = { log, client, runId: newRunId(), storePid: store.pid };
    await measureThroughput(bench, add);
    await measureReads(bench, add);
    await measureLatency(bench, add);
    const startedAt = performance.now();
    const { ok, numRecords } = await verifyStore({ log, client });
    if (!ok) throw new Error('the store does not hold what the log holds');
    add('verify', (1000 * numRecords) / (performance.now() - startedAt), 'records/s');
    await log.close();
    await client.close();
  } finally {
    store.disconnect();
    await once(store, 'exit');
    rmSync(directory, { recursive: true });
  }
  if (process.env.RETRACE_RESULT_FILE) {
    const title = `Embedded store, steps of 1 kB text and ${NUM_TOKENS} tokens`;
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
  }
}

await (process.argv[2] ? serveStore(process.argv[2]) : main());
