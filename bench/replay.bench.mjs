/**
 * Measures reading for training from a store with a long history: episodes of 6 steps of 1 kB random text and 256 tokens, which came
 * through log and sink. Reads the whole history in order, in slices; 256 random episodes; and a page of a listing; and checks that the
 * memory of this process and of the store does not grow with the history.
 *
 *   npm run bench -- replay [-- --episodes 100000 --keep]
 *
 * Filling takes minutes; --keep leaves the store in the temporary directory, where the next run with --keep finds it.
 */
import { Buffer } from 'node:buffer';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { URLSearchParams } from 'node:url';
import { parseArgs } from 'node:util';
import { TrajectoryWriter } from '@retrace/collector';
import { episodeIdFor } from '@retrace/trajectory';
import { createStoreClient, migrate, TrajectoryReader } from '@retrace/store';
import { ControlTail } from '@retrace/log';
import { openLog } from '@retrace/log';
import { sampleControlEvent } from '@retrace/trajectory/testing';
import { FigureTable } from './figure-table.mjs';
import { anonymousMiB, cpuMsOf, startRole, STORE_USER } from './pipeline-processes.mjs';
import { STEPS_PER_EPISODE, TOKENS_PER_STEP } from './sample-episodes.mjs';
import { WrittenPipeline } from './written-pipeline.mjs';

const { values } = parseArgs({
  options: { episodes: { type: 'string', default: '100000' }, keep: { type: 'boolean', default: false } },
});
const numEpisodes = Number(values.episodes);
const BATCH_EPISODES = 256;
const SLICE_EPISODES = 2_048;
const NUM_PICKS = 21;
const PAGE_EPISODES = 51;
const TOKENS_PER_EPISODE = STEPS_PER_EPISODE * TOKENS_PER_STEP;
/** Token ids, logprobs and policy versions of 4 bytes, mask of 1. */
const EPISODE_BYTES = TOKENS_PER_EPISODE * 13;

const directory = join(tmpdir(), `retrace-bench-replay-${values.keep ? numEpisodes : process.pid}`);
const filled = join(directory, 'filled');

async function fill(client, storeUrl) {
  const location = { kind: 'lmdb', path: join(directory, 'log') };
  const log = await openLog(location, 'bench');
  const sink = await startRole('sink', JSON.stringify({ log: location, storeUrl }));
  const pipeline = new WrittenPipeline({ log, writer: await TrajectoryWriter.open(log), sink });
  const startedAt = performance.now();
  // Listings show only episodes of runs that have started.
  const { payload } = sampleControlEvent('RunStarted');
  await new ControlTail(log).append(pipeline.runId, { kind: 'RunStarted', payload });
  await pipeline.writeEpisodes(numEpisodes);
  await pipeline.drain();
  console.log(`filled in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  await sink.stop();
  await log.close();
  rmSync(join(directory, 'log'), { recursive: true });
  writeFileSync(filled, '');
}

/** Returns the uncompressed bytes that the engine reads for a statement, by its own count. */
async function bytesReadBy({ sql, params }, storeUrl) {
  const parameters = Object.entries(params).map(([name, value]) => [`param_${name}`, value]);
  const search = new URLSearchParams(parameters);
  const basic = Buffer.from(`${STORE_USER.username}:${STORE_USER.password}`).toString('base64');
  const headers = { authorization: `Basic ${basic}` };
  const body = `${sql} FORMAT JSONCompact`;
  const response = await fetch(`${storeUrl}/?${search}`, { method: 'POST', body, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text).statistics.bytes_read;
}

/** Wraps a client so that it remembers its statements. */
function listening(client, statements) {
  const queryArrow = (sql, options) => {
    statements.push({ sql, params: options.params });
    return client.queryArrow(sql, options);
  };
  return { queryArrow };
}

/** Reads all episodes up to `count` in order and in slices, as a replay of the history does. */
async function readInOrder({ reader, runId, storePid }, count) {
  const ids = Array.from({ length: count }, (_, ordinal) => episodeIdFor({ runId, ordinal }));
  let numTokens = 0;
  const peakMiB = { reader: 0, store: 0 };
  const pids = { reader: process.pid, store: storePid };
  const cpuBefore = { reader: cpuMsOf(pids.reader), store: cpuMsOf(pids.store) };
  const startedAt = performance.now();
  for await (const { tokenIds } of reader.readSlices(runId, ids)) {
    numTokens += tokenIds.length;
    for (const [role, pid] of Object.entries(pids))
      peakMiB[role] = Math.max(peakMiB[role], anonymousMiB(pid));
  }
  const tookMs = performance.now() - startedAt;
  if (numTokens !== count * TOKENS_PER_EPISODE)
    throw new Error(`Read ${numTokens} tokens; expected ${count * TOKENS_PER_EPISODE}`);
  const cpuNs = (role) => (1e6 * (cpuMsOf(pids[role]) - cpuBefore[role])) / numTokens;
  return {
    tokensPerSecond: (1000 * numTokens) / tookMs,
    cpuNs: { reader: cpuNs('reader'), store: cpuNs('store') },
    peakMiB,
  };
}

async function pickAtRandom({ client, runId, storeUrl }, add) {
  const statements = [];
  const reader = new TrajectoryReader(listening(client, statements));
  const tookMs = [];
  for (let pick = 0; pick < NUM_PICKS; pick++) {
    const ids = Array.from({ length: BATCH_EPISODES }, () =>
      episodeIdFor({ runId, ordinal: Math.floor(Math.random() * numEpisodes) }),
    );
    const startedAt = performance.now();
    const { tokenIds } = await reader.readEpisodes(runId, ids);
    tookMs.push(performance.now() - startedAt);
    if (tokenIds.length !== BATCH_EPISODES * TOKENS_PER_EPISODE)
      throw new Error(`read ${tokenIds.length} tokens`);
  }
  const sorted = tookMs.toSorted((a, b) => a - b);
  const ofThem = `${BATCH_EPISODES} of ${numEpisodes.toLocaleString('en')} episodes at random`;
  add(`${ofThem}, median of ${NUM_PICKS}`, sorted[NUM_PICKS >> 1], 'ms', { most: 300 });
  add('… slowest', sorted[NUM_PICKS - 1], 'ms');
  const bytesRead = await bytesReadBy(statements[0], storeUrl);
  add('… bytes read by the engine, uncompressed', bytesRead / 1e6, 'MB');
  add('… against the bytes of their token columns', bytesRead / (BATCH_EPISODES * EPISODE_BYTES), '×', {
    most: 20,
  });
}

/** Lists neighbours by id as rows of the view, as the dashboard does. */
async function listPages({ client, runId }, add) {
  const sql = `SELECT * FROM episodes WHERE run_id = {runId:String} AND episode_id BETWEEN {low:String} AND {high:String}`;
  const tookMs = [];
  for (let pick = 0; pick < NUM_PICKS; pick++) {
    const first = Math.floor(Math.random() * (numEpisodes - PAGE_EPISODES));
    const low = episodeIdFor({ runId, ordinal: first });
    const high = episodeIdFor({ runId, ordinal: first + PAGE_EPISODES - 1 });
    const startedAt = performance.now();
    const rows = await client.queryRows(sql, { params: { runId, low, high } });
    tookMs.push(performance.now() - startedAt);
    if (rows.length !== PAGE_EPISODES)
      throw new Error(`Listed ${rows.length} episodes; expected ${PAGE_EPISODES}`);
  }
  add(
    `a page of ${PAGE_EPISODES} episodes, median of ${NUM_PICKS}`,
    tookMs.toSorted((a, b) => a - b)[NUM_PICKS >> 1],
    'ms',
  );
}

const table = new FigureTable(
  `Replay: reading a history of ${numEpisodes.toLocaleString('en')} episodes for training`,
);
const add = table.add.bind(table);
mkdirSync(directory, { recursive: true });
const store = await startRole('store', join(directory, 'store'));
const storeUrl = store.first.url;
const client = createStoreClient({ url: storeUrl, ...STORE_USER });
try {
  await migrate(client);
  if (!existsSync(filled)) await fill(client, storeUrl);
  const [{ runId }] = await client.queryRows('SELECT run_id AS runId FROM events WHERE seq = 1 LIMIT 1');
  const [{ numParts }] = await client.queryRows(
    "SELECT count() AS numParts FROM system.parts WHERE table = 'events' AND active",
  );
  add('tokens in the history', numEpisodes * TOKENS_PER_EPISODE, 'tokens');
  add('parts that it lies in', numParts, 'parts');
  await pickAtRandom({ client, runId, storeUrl }, add);
  await listPages({ client, runId }, add);
  const reader = new TrajectoryReader(client, { maxEpisodesPerQuery: SLICE_EPISODES });
  const bench = { reader, runId, storePid: store.pid };
  const tenth = await readInOrder(bench, Math.ceil(numEpisodes / 10));
  const all = await readInOrder(bench, numEpisodes);
  add(`in order, ${SLICE_EPISODES} episodes at a time`, all.tokensPerSecond, 'tokens/s', { least: 20e6 });
  for (const role of ['reader', 'store']) {
    add(`… CPU of the ${role}`, all.cpuNs[role], 'ns/token');
  }
  for (const role of ['reader', 'store']) {
    const name = `most anonymous memory of the ${role}`;
    add(`${name}, a tenth of the history read`, tenth.peakMiB[role], 'MiB');
    add(`${name}, all of it read`, all.peakMiB[role], 'MiB');
  }
} finally {
  await client.close();
  await store.stop();
  if (!values.keep) rmSync(directory, { recursive: true });
}
table.save();
