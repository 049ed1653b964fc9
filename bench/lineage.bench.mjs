/**
 * Measures lineage: the size of what an update leaves about the episodes that fed it, and how long both questions take among ten million
 * such rows: what fed this update, and which updates used this episode.
 *
 *   npm run bench -- lineage [-- --rows 10000000]
 *
 * Sizes are those of updates that came through log and sink, with random advantages, which compress worst, and episodes of 4 to 10 steps. The
 * rows to search are made by the engine itself: of half of the runs every update has fresh episodes, of the others half of the episodes are
 * older ones, drawn at random.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { openLmdbLog } from '@retrace/log/lmdb';
import { ControlTail } from '@retrace/log';
import { catchUp, createStoreClient, migrate } from '@retrace/store';
import { startStoreServer } from '@retrace/store-server';
import { episodeIdFor, newControlEventId, newRunId } from '@retrace/trajectory';
import { sampleControlEvent } from '@retrace/trajectory/testing';
import { FigureTable } from './figure-table.mjs';

const { values } = parseArgs({ options: { rows: { type: 'string', default: '10000000' } } });
const EPISODES = 512;
const GROUP_SIZE = 8;
const NUM_RUNS = 20;
const NUM_WRITTEN = 100;
const NUM_QUESTIONS = 41;
const numUpdates = Math.ceil(Number(values.rows) / NUM_RUNS / EPISODES);

const figures = new FigureTable('Lineage: what fed an update, and which updates used an episode');
const directory = mkdtempSync(join(tmpdir(), 'retrace-bench-lineage-'));
const user = { name: 'retrace', password: 'bench' };
const server = await startStoreServer({
  dataDirectory: join(directory, 'store'),
  host: '127.0.0.1',
  port: 0,
  users: [{ ...user, access: 'full' }],
});
const client = createStoreClient({
  url: server.url,
  username: user.name,
  password: user.password,
  requestTimeoutMs: 600_000,
});
try {
  await migrate(client);
  await measureSizes();
  await client.command('TRUNCATE TABLE traced_inputs');
  await fill();
  await measureQuestions();
} finally {
  await client.close();
  await server.close();
  rmSync(directory, { recursive: true });
}
figures.save(
  'Latencies are of calls over HTTP, each about another update or episode; `SELECT 1` is what any call takes. The store works in this process, so the CPU time is that of both.',
);

async function measureSizes() {
  const log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'bench' });
  const control = new ControlTail(log);
  const runId = newRunId();
  const entry = (kind, payload) => ({ kind, payload: { ...sampleControlEvent(kind).payload, ...payload } });
  await control.append(runId, entry('RunStarted', {}), entry('TrainerClaimed', { epoch: 0 }));
  let numSteps = 0;
  for (let update = 1; update <= NUM_WRITTEN; update++) {
    const traced = traceOf(runId, update);
    numSteps += traced.numSteps.reduce((sum, steps) => sum + steps, 0);
    await control.append(runId, { kind: 'UpdateTraced', payload: traced });
  }
  control.close();
  await catchUp(log, client);
  await log.close();
  const [{ numRows }] = await client.queryRows('SELECT count() AS numRows FROM update_inputs');
  if (numRows !== NUM_WRITTEN * EPISODES)
    throw new Error(`${numRows} rows; expected ${NUM_WRITTEN * EPISODES}`);
  await client.command('OPTIMIZE TABLE traced_inputs FINAL');
  await client.command('OPTIMIZE TABLE events FINAL');
  const bytesOf = async (table) => {
    const [{ bytes }] = await client.queryRows(
      `SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND table = '${table}' AND database = currentDatabase()`,
    );
    return bytes;
  };
  const rowBytes = await bytesOf('traced_inputs');
  const eventBytes = await bytesOf('events');
  const numEpisodes = NUM_WRITTEN * EPISODES;
  figures.add('steps an episode', numSteps / numEpisodes, '');
  figures.add('rows of update_inputs, compressed', rowBytes / numEpisodes, 'B/episode');
  figures.add('their events in the store, compressed', eventBytes / numEpisodes, 'B/episode');
  figures.add('both together', (rowBytes + eventBytes) / numSteps, 'B/step', { most: 16 });
}

function traceOf(runId, updateNumber) {
  const counts = (of) => Int32Array.from({ length: EPISODES }, (_, e) => of(e));
  const numbers = () => Float32Array.from({ length: EPISODES }, () => Math.random() - 0.5);
  const first = (updateNumber - 1) * EPISODES;
  return {
    planId: newControlEventId(),
    epoch: 0,
    updateNumber,
    policyVersionIn: updateNumber - 1,
    runIds: [runId],
    episodeRuns: counts(() => 0),
    groupIds: Array.from({ length: EPISODES / GROUP_SIZE }, (_, g) => `round-${updateNumber}/task-${g}`),
    episodeGroups: counts((e) => Math.floor(e / GROUP_SIZE)),
    episodeIds: Array.from({ length: EPISODES }, (_, e) => episodeIdFor({ runId, ordinal: first + e })),
    episodeDigests: [],
    firstSteps: counts(() => 0),
    numSteps: counts(() => 4 + Math.floor(7 * Math.random())),
    times: counts(() => 1),
    numTokens: counts(() => 20 + Math.floor(60 * Math.random())),
    weights: new Float32Array(EPISODES).fill(1),
    advantageMeans: numbers(),
    advantageDeviations: numbers().map(Math.abs),
    advantageMins: numbers(),
    advantageMaxs: numbers(),
    stepLosses: Float64Array.from({ length: 8 }, Math.random),
    stepGradientNorms: Float64Array.from({ length: 8 }, Math.random),
  };
}

function runOf(r) {
  return `01936d${`${r}`.padStart(2, '0')}-1234-7000-8000-00000000000a`;
}

async function fill() {
  const startedAt = performance.now();
  for (let r = 0; r < NUM_RUNS; r++) {
    const fresh = `u * ${EPISODES} + p`;
    const half = EPISODES / 2;
    const mixed = `if(p < ${half}, u * ${half} + p, rand(7) % (u * ${half} + ${half}))`;
    const hexOf = (value, from, length) => `substring(hex(${value}), ${from}, ${length})`;
    // The form that `episodeIdFor` gives: the start of the run, the ordinal, and bits of a hash.
    const episodeId = `lower(concat('${runOf(r).slice(0, 14)}8',
      ${hexOf('toUInt32(bitShiftRight(o, 20))', 6, 3)}, '-',
      hex(toUInt16(32768 + bitAnd(bitShiftRight(o, 6), 16383))), '-',
      hex(toUInt16(bitAnd(o, 63) * 1024 + bitAnd(sipHash64(o), 1023))), ${hexOf('sipHash64(o, 2)', 1, 8)}))`;
    await client.command(
      `INSERT INTO traced_inputs
       SELECT '${runOf(r)}', u, concat('plan-', toString(u)), 0, p, u, '${runOf(r)}', ${episodeId},
         concat('round-', toString(u), '/task-', toString(intDiv(p, ${GROUP_SIZE}))), 0, 4 + sipHash64(o, 9) % 7, 1,
         20 + sipHash64(o, 3) % 60, 1, randNormal(0.0, 1.0, 1), abs(randNormal(0.0, 0.3, 2)),
         randNormal(-1.0, 0.5, 3), randNormal(1.0, 0.5, 4)
       FROM (
         SELECT intDiv(number, ${EPISODES}) AS u, number % ${EPISODES} AS p, ${r % 2 === 0 ? fresh : mixed} AS o
         FROM numbers(${numUpdates * EPISODES}))`,
      { settings: { max_threads: 1, max_insert_threads: '1' } },
    );
  }
  await client.command('OPTIMIZE TABLE traced_inputs');
  const [{ n }] = await client.queryRows('SELECT count() AS n FROM traced_inputs');
  figures.add('rows searched', n, '');
  console.log(`filled in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
}

async function measureQuestions() {
  const picked = await client.queryRows(
    `SELECT run_id AS runId, update_number AS updateNumber, episode_id AS episodeId FROM traced_inputs
     WHERE place = 400 AND update_number > 10 ORDER BY rand(3) LIMIT ${NUM_QUESTIONS}`,
  );
  await ask('SELECT 1', () => ['SELECT 1']);
  await ask('what fed an update', ({ runId, updateNumber }) => [
    `SELECT * FROM update_inputs WHERE run_id = {runId:String} AND update_number = {updateNumber:UInt64}`,
    { runId, updateNumber },
  ]);
  await ask('which updates used an episode', ({ episodeId }) => [
    'SELECT * FROM update_inputs WHERE episode_id = {episodeId:String}',
    { episodeId },
  ]);
  await ask('the same, with its run', ({ runId, episodeId }) => [
    'SELECT * FROM update_inputs WHERE run_id = {runId:String} AND episode_id = {episodeId:String}',
    { runId, episodeId },
  ]);

  async function ask(name, statementOf) {
    const times = [];
    const cpuTimes = [];
    for (const one of picked) {
      const [sql, params] = statementOf(one);
      const startedAt = performance.now();
      const cpuBefore = process.cpuUsage();
      const rows = await client.queryRows(sql, { params });
      times.push(performance.now() - startedAt);
      const { user, system } = process.cpuUsage(cpuBefore);
      cpuTimes.push((user + system) / 1000);
      if (rows.length === 0) throw new Error(`${name}: no row for ${JSON.stringify(one)}`);
    }
    times.sort((a, b) => a - b);
    cpuTimes.sort((a, b) => a - b);
    const aim = name === 'SELECT 1' ? null : { most: 50 };
    figures.add(`${name}, median`, times[NUM_QUESTIONS >> 1], 'ms', aim);
    figures.add(`${name}, CPU of client and store, median`, cpuTimes[NUM_QUESTIONS >> 1], 'ms', aim);
  }
}
