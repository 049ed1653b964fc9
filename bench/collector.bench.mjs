/**
 * Measures the collector: episodes without a model up to their acknowledgement by the log, concurrency in front of a server that takes its
 * time, the built-in worlds by themselves, and memory over a long round.
 *
 *   npm run bench -- collector [-- --episodes 20000 --latency 100]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  collectEpisodes,
  createSlots,
  openLoop,
  EndpointActor,
  planRound,
  playEpisodes,
  TrajectoryWriter,
} from '@retrace/collector';
import { openTokenEngine, ServiceClient } from '@retrace/endpoints';
import { getEnvironment, listEnvironments } from '@retrace/environments';
import { deriveSeed, Pcg32 } from '@retrace/random';
import { ControlTail } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { CheckpointFiles, openPolicyText } from '@retrace/policy';
import { newRunId } from '@retrace/trajectory';
import { FigureTable } from './figure-table.mjs';

const { values } = parseArgs({
  options: {
    episodes: { type: 'string', default: '20000' },
    latency: { type: 'string', default: '100' },
  },
});
/** The version that the collector asks with. */
const { Pool } = createRequire(new URL('../libs/endpoints/package.json', import.meta.url))('undici');

const NUM_ROUNDS = 5;
const NUM_CONCURRENT = 256;
const TURNS_EACH = 80;
/** Of the round before, which compiles. */
const TURNS_BEFORE = 16;
const WORLD_MS = 1_000;
const WORLD_EPISODES = 512;
const signal = new AbortController().signal;

/** Runs `use` with a fresh log on disk. */
async function withLog(use) {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-bench-collector-'));
  const log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'bench' });
  try {
    return await use(log, directory);
  } finally {
    await log.close();
    rmSync(directory, { recursive: true });
  }
}

/** Anonymous memory of the process: without the pages of the log's file, which belong to the system's cache. */
function ownMemoryMiB() {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** Records in all partitions, markers of rounds among them. */
async function countRecords(log) {
  let numRecords = 0;
  for (let partition = 0; partition < log.numPartitions('trajectories'); partition++) {
    numRecords += await log.endOffset('trajectories', partition);
  }
  return numRecords;
}

/** Collects episodes of the random agent up to their acknowledgement, and returns the number of steps, the time and the processor's. */
async function collectRandom(spec, { numEpisodes, seed }) {
  return withLog(async (log, directory) => {
    const control = new ControlTail(log);
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    await collectEpisodes({
      ...{ log, control, spec, numEpisodes, seed, signal },
      ...{ policy: 'random', engine: 'bench', codeVersion: 'bench' },
      checkpoints: new CheckpointFiles(join(directory, 'checkpoints')),
    });
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(cpuBefore);
    control.close();
    // Each episode has two more events, its start and its end.
    const numSteps = (await countRecords(log)) - 2 * numEpisodes;
    return { numSteps, seconds, cpuUs: user + system };
  });
}

/**
 * Collects rounds of the random agent, each acknowledged as a whole before the next begins. Each has a log of its own, since a reader of the
 * control stream remembers the groups of every run in it.
 */
async function measureWithoutModel(table) {
  const spec = getEnvironment('frozen-lake');
  const numEpisodes = Number(values.episodes);
  const rounds = [];
  for (let seed = 0; seed < NUM_ROUNDS; seed++) {
    const { numSteps, seconds, cpuUs } = await collectRandom(spec, { numEpisodes, seed });
    const residentMiB = ownMemoryMiB();
    collectGarbage();
    const heapMiB = process.memoryUsage().heapUsed / 1024 ** 2;
    rounds.push({ rate: numSteps / seconds, stepUs: cpuUs / numSteps, residentMiB, heapMiB });
  }
  const rates = rounds.map(({ rate }) => rate).sort((a, b) => a - b);
  const cpus = rounds.map(({ stepUs }) => stepUs).sort((a, b) => a - b);
  const middle = (NUM_ROUNDS - 1) / 2;
  // The first round compiles.
  const [, early] = rounds;
  const last = rounds[NUM_ROUNDS - 1];
  const name = 'frozen-lake, random agent, to an acknowledged log';
  table.add(name, rates[middle], 'steps/s', { least: 20_000 });
  table.add('… slowest round', rates[0], 'steps/s');
  table.add('… processor, all threads', cpus[middle], 'µs/step');
  table.add('heap after the second round, garbage collected', early.heapMiB, 'MiB');
  table.add(`… after round ${NUM_ROUNDS}, as a multiple`, last.heapMiB / early.heapMiB, '×', { most: 1.1 });
  table.add('anonymous memory after the second round', early.residentMiB, 'MiB');
  table.add(`… after round ${NUM_ROUNDS}, as a multiple`, last.residentMiB / early.residentMiB, '×', {
    most: 1.2,
  });
}

/**
 * Plays many episodes at once against a server that answers after a fixed time, in another process. With ideal concurrency each slot waits
 * for nothing but the server.
 */
async function measureConcurrency(table) {
  const latencyMs = Number(values.latency);
  const server = fork(new URL('slow-engine.mjs', import.meta.url), [String(latencyMs)]);
  const [{ url }] = await once(server, 'message');
  try {
    await withLog(async (log) => {
      await playAgainst(url, log, TURNS_BEFORE);
      await meanHeldMs(server);
      const { seconds, cpuUs } = await playAgainst(url, log, TURNS_EACH);
      const heldMs = await meanHeldMs(server);
      const name = `${NUM_CONCURRENT} episodes at once, ${latencyMs} ms a turn`;
      const share = (turnMs) => (100 * TURNS_EACH * turnMs) / 1000 / seconds;
      table.add(`${name}: of ideal concurrency`, share(heldMs), '%', { least: 95 });
      table.add('… if every answer had come on time', share(latencyMs), '%');
      table.add('… the server held a request, on average', heldMs, 'ms');
      const bareSeconds = await askBarely(url);
      table.add('… of what a bare HTTP client reaches', (100 * bareSeconds) / seconds, '%');
      table.add('… turns', (NUM_CONCURRENT * TURNS_EACH) / seconds, 'turns/s');
      table.add('… CPU of the collector', cpuUs / (NUM_CONCURRENT * TURNS_EACH), 'µs/turn');
    });
  } finally {
    server.kill();
  }
}

/** Asks as often, as many at once, by undici's pool alone: no environment, no events, no log. */
async function askBarely(url) {
  const pool = new Pool(url, { connections: NUM_CONCURRENT });
  const body = JSON.stringify({
    model: 'bench',
    prompt: Array.from({ length: 64 }, (_, i) => i),
    max_tokens: 1,
  });
  const headers = { 'content-type': 'application/json' };
  const ask = async () => {
    const answer = await pool.request({ path: '/v1/completions', method: 'POST', headers, body });
    return answer.body.json();
  };
  const askAll = (turnsEach) =>
    Promise.all(
      Array.from({ length: NUM_CONCURRENT }, async () => {
        for (let turn = 0; turn < turnsEach; turn++) await ask();
      }),
    );
  await askAll(TURNS_BEFORE);
  const startedAt = performance.now();
  await askAll(TURNS_EACH);
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  return seconds;
}

/** How long the server held a request since it was asked last: its timers and its own work make that more than the latency. */
async function meanHeldMs(server) {
  const answer = once(server, 'message');
  server.send('held');
  return (await answer)[0].meanHeldMs;
}

/** Measures the time until every episode is acknowledged, and the processor's. */
async function playAgainst(url, log, turnsEach) {
  const spec = getEnvironment('memory-bandit');
  const text = await openPolicyText({ tokenizer: 'word', words: spec.words });
  const service = new ServiceClient({ url, concurrency: NUM_CONCURRENT });
  const engine = openTokenEngine('vllm', service, { timeoutMs: 30_000, maxRetries: 3 });
  const sampler = {
    sample: async (_slot, request, ended) => ({
      generated: await engine.generate({ ...request, model: 'bench' }, ended),
      ...{ policyVersion: 0, logprobMode: 'processed' },
    }),
    release: () => undefined,
  };
  const actor = new EndpointActor({
    sampler,
    text,
    maxTokens: 256,
    sampling: { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 1 },
    signal,
  });
  const runId = newRunId();
  const writer = await TrajectoryWriter.open(log, { signal });
  const recorder = {
    ...{ runId, logId: log.logId, environment: spec.name, engine: 'bench', model: 'bench' },
    tokenizerHash: text.tokenizer.hash,
    nowUs: () => Date.now() * 1000,
  };
  const { begin: beginLoop } = await openLoop({
    context: { window: 'history', tokenizer: 'word', maxNewTokens: 1 },
    collection: {},
  });
  const context = {
    ...{ actor, beginLoop, prompts: text.prompts, recorder },
    limits: {
      resetTimeoutMs: 60_000,
      stepTimeoutMs: 60_000,
      maxFailuresInARow: 64,
      truncatedSuccess: false,
      whenContextFull: 'truncate',
    },
    emit: (event) => writer.write(event),
    ended: () => undefined,
    onEnvironmentMs: () => undefined,
  };
  const episodes = planRound({
    ...{ runId, seed: 1, spec, split: 'train', agent: 'policy', trainable: true, round: 0, groupSize: 1 },
    ...{ firstTask: 0, firstOrdinal: 0, numGroups: (NUM_CONCURRENT * turnsEach) / spec.maxSteps },
  });
  const slots = createSlots(spec, NUM_CONCURRENT, context);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await playEpisodes({
    ...{ slots, context, episodes, signal },
    beforeTurns: () => writer.betweenTurns(),
    betweenActs: () => writer.betweenTurns(),
    onGenerationMs: () => undefined,
  });
  await writer.flush();
  const seconds = (performance.now() - startedAt) / 1000;
  await writer.close();
  await service.close();
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds, cpuUs: user + system };
}

/** Steps of the random agent in each world, with nothing around it. */
async function playAlone(spec) {
  const agent = spec.agents.find(({ name }) => name === 'random');
  const environment = spec.create();
  const generator = new Pcg32(deriveSeed('bench', spec.name));
  const random = () => generator.nextFloat();
  // Tasks are drawn beforehand: some worlds search for one that can be solved.
  const tasks = Array.from({ length: 20 }, (_, index) => spec.sampleTask({ split: 'test', index, seed: 1 }));
  let numSteps = 0;
  const startedAt = performance.now();
  for (let n = 0; performance.now() - startedAt < WORLD_MS; n++) {
    let observation = await environment.reset(tasks[n % tasks.length]);
    for (let isOver = false; !isOver; numSteps++) {
      const result = await environment.step(agent.act(environment, observation, random));
      observation = result.observation;
      isOver = result.terminated || result.truncated;
    }
  }
  return (1000 * numSteps) / (performance.now() - startedAt);
}

/** Steps of the random agent in each world: alone, and through the collector to an acknowledged log, its tasks and their starts among it. */
async function measureWorlds(table) {
  for (const spec of listEnvironments()) {
    const total = { numSteps: 0, seconds: 0, cpuUs: 0 };
    // The first round is small and not counted: it opens what the world needs.
    await collectRandom(spec, { numEpisodes: 32, seed: 0 });
    for (let seed = 1; total.seconds < WORLD_MS / 1000; seed++) {
      const { numSteps, seconds, cpuUs } = await collectRandom(spec, { numEpisodes: WORLD_EPISODES, seed });
      total.numSteps += numSteps;
      total.seconds += seconds;
      total.cpuUs += cpuUs;
    }
    table.add(`${spec.name}, alone`, await playAlone(spec), 'steps/s');
    table.add('… through the collector', total.numSteps / total.seconds, 'steps/s');
    table.add('… processor, all threads', total.cpuUs / total.numSteps, 'µs/step');
  }
}

const table = new FigureTable('The collector');
await measureWithoutModel(table);
await measureConcurrency(table);
await measureWorlds(table);
table.save(`${values.episodes} episodes in each round. The server with latency is bench/slow-engine.mjs.`);
