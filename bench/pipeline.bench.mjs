/**
 * Measures the path of a step from the collector's writer to SQL through every process of production: this one (the collector's
 * writer), the sink, the store, and the broker where the log is on Kafka. Steps have 1 kB of random text and 256 tokens. Reports steps
 * per second; at half that rate, how soon each is visible; CPU time by process; disk space; the cost of an idle pipeline; and the speed
 * of verifying the store against the log.
 *
 *   npm run bench -- pipeline [-- --log lmdb --log kafka --seconds 10]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { TrajectoryWriter } from '@retrace/collector';
import { createStoreClient, migrate, verifyStore } from '@retrace/store';
import { openLog } from '@retrace/log';
import { startBroker } from '@retrace/log/kafka-broker';
import { FigureTable } from './figure-table.mjs';
import {
  anonymousMiB,
  cpuMsOf,
  processTree,
  programOf,
  startRole,
  STORE_USER,
} from './pipeline-processes.mjs';
import { EVENTS_PER_EPISODE, STEP_BYTES, STEPS_PER_EPISODE, TOKENS_PER_STEP } from './sample-episodes.mjs';
import { WrittenPipeline } from './written-pipeline.mjs';
import { percentile } from './timing.mjs';

const { values } = parseArgs({
  options: {
    log: { type: 'string', multiple: true, default: ['lmdb', 'kafka'] },
    seconds: { type: 'string', default: '10' },
  },
});
const measuredMs = Number(values.seconds) * 1000;
const WARM_UP_MS = 3_000;
const SETTLE_MS = 8_000;
const IDLE_MS = 10_000;

async function measurePipeline(kind, table) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-bench-pipeline-'));
  const broker = kind === 'kafka' ? await startBroker() : null;
  if (broker && 'unavailable' in broker) {
    console.log(`kafka: skipped, because ${broker.unavailable}`);
    return;
  }
  const location =
    kind === 'kafka'
      ? { kind, brokers: [broker.addresses.plaintext], numTrajectoryPartitions: 1 }
      : { kind, path: join(directory, 'log') };
  const store = await startRole('store', join(directory, 'store'));
  const client = createStoreClient({ url: store.first.url, ...STORE_USER });
  await migrate(client);
  const log = await openLog(location, 'bench');
  const sink = await startRole('sink', JSON.stringify({ log: location, storeUrl: store.first.url }));
  try {
    const writer = await TrajectoryWriter.open(log);
    const pipeline = new WrittenPipeline({ log, writer, sink });
    const roles = { 'collector’s writer': process.pid, sink: sink.pid, store: store.pid };
    if (broker) roles.broker = processTree(process.pid).find((pid) => programOf(pid) === 'java');
    const add = (name, ...rest) => table.add(`${kind}: ${name}`, ...rest);
    const stepsPerSecond = await measureThroughput(pipeline, roles, kind === 'lmdb', add);
    await measureLatency(pipeline, stepsPerSecond / 2, add);
    await requireAllVisible(client, pipeline);
    for (const [role, pid] of Object.entries(roles))
      add(`anonymous memory, ${role}`, anonymousMiB(pid), 'MiB');
    await measureDisk(client, add);
    await measureIdle(client, roles, add);
    await measureVerify(log, client, add);
    await log.close();
  } finally {
    await client.close();
    await sink.stop();
    await store.stop();
    await broker?.close();
    rmSync(directory, { recursive: true });
  }
}

/** @param withAims the aims are of the embedded log and store */
async function measureThroughput(pipeline, roles, withAims, add) {
  await pipeline.writeFor(WARM_UP_MS);
  const cpuBefore = Object.entries(roles).map(([, pid]) => cpuMsOf(pid));
  const before = { visible: pipeline.visible, numInserts: pipeline.numInserts, at: performance.now() };
  await pipeline.writeFor(measuredMs);
  const seconds = (performance.now() - before.at) / 1000;
  const numSteps = ((pipeline.visible - before.visible) * STEPS_PER_EPISODE) / EVENTS_PER_EPISODE;
  const perSecond = numSteps / seconds;
  add('steps from write to visible, sustained', perSecond, 'steps/s', withAims ? { least: 10_000 } : null);
  add('… their tokens', perSecond * TOKENS_PER_STEP, 'tokens/s', withAims ? { least: 2_500_000 } : null);
  add(`… their columns, ${STEP_BYTES} bytes a step`, (perSecond * STEP_BYTES) / 1e6, 'MB/s');
  add('… inserts', (pipeline.numInserts - before.numInserts) / seconds, 'inserts/s');
  let i = 0;
  for (const [role, pid] of Object.entries(roles)) {
    add(`… CPU of the ${role}, a step`, (1000 * (cpuMsOf(pid) - cpuBefore[i++])) / numSteps, 'µs');
  }
  await pipeline.drain();
  return perSecond;
}

async function measureLatency(pipeline, stepsPerSecond, add) {
  pipeline.latenciesMs.length = 0;
  await pipeline.writePaced(measuredMs, stepsPerSecond / STEPS_PER_EPISODE);
  await pipeline.drain();
  add('write to visible at half that rate, p50', percentile(pipeline.latenciesMs, 0.5), 'ms');
  add('write to visible at half that rate, p99', percentile(pipeline.latenciesMs, 0.99), 'ms', {
    most: 1_000,
  });
}

async function requireAllVisible(client, { runId, written }) {
  const sql =
    'SELECT count() AS rows, uniqExact(event_id) AS events FROM events WHERE run_id = {runId:String}';
  const [{ rows, events }] = await client.queryRows(sql, { params: { runId } });
  if (rows !== written || events !== written)
    throw new Error(
      `The store has ${rows} rows of ${events} events; expected the ${written} acknowledged events`,
    );
}

async function measureDisk(client, add) {
  await client.command('OPTIMIZE TABLE events FINAL');
  const [{ tokenBytes, allBytes, numTokens }] = await client.queryRows(
    `SELECT
       sumIf(column_data_compressed_bytes, column LIKE 'token\\_%' OR column = 'action_mask') AS tokenBytes,
       sum(column_data_compressed_bytes) AS allBytes,
       (SELECT sum(length(token_ids)) FROM events) AS numTokens
     FROM system.parts_columns WHERE table = 'events' AND active`,
  );
  add('on disk, token columns', tokenBytes / numTokens, 'bytes/token', { most: 6 });
  add('on disk, everything', allBytes / numTokens, 'bytes/token');
}

/** Measures the idle pipeline once merges and late work have finished. The broker, a foreign program, is counted apart. */
async function measureIdle(client, roles, add) {
  const countMerges = 'SELECT count() AS merging FROM system.merges';
  while ((await client.queryRows(countMerges))[0].merging > 0) await pause(200);
  await pause(SETTLE_MS);
  const cpuOf = () => Object.fromEntries(Object.entries(roles).map(([role, pid]) => [role, cpuMsOf(pid)]));
  const before = cpuOf();
  await pause(IDLE_MS);
  const after = cpuOf();
  let sum = 0;
  for (const role of Object.keys(roles)) {
    const share = (100 * (after[role] - before[role])) / IDLE_MS;
    add(`CPU of the ${role} while idle, of one core`, share, '%');
    if (role !== 'broker') sum += share;
  }
  add('CPU of writer, sink and store while idle, of one core', sum, '%', { most: 1 });
}

async function measureVerify(log, client, add) {
  const startedAt = performance.now();
  const { ok, numRecords } = await verifyStore({ log, client });
  if (!ok) throw new Error('The store differs from the log; "retrace verify" lists the faults');
  add(
    'verify: every record against its row',
    (1000 * numRecords) / (performance.now() - startedAt),
    'records/s',
  );
}

const table = new FigureTable('From the collector’s writer to SQL, all processes on this machine');
for (const kind of values.log) await measurePipeline(kind, table);
table.save();
