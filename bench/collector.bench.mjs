/**
 * Measures the collector: episodes without a model up to their acknowledgement by the log, concurrency in front of a server that takes its
 * time, the built-in worlds by themselves, and memory over a long round.
 *
 *   npm run bench -- collector [-- --episodes 20000 --latency 100]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import {
  collectEpisodes,
  createSlots,
  openLoop,
  EndpointActor,
  planRound,
  playEpisodes,
  TrajectoryWriter,
} from '@retrace/collector';
import { ServiceClient, VllmEngine } from '@retrace/endpoints';
import { deriveSeed, getEnvironment, listEnvironments, Pcg32 } from '@retrace/environments';
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
const NUM_ROUNDS = 5;
const NUM_CONCURRENT = 256;
const TURNS_EACH = 80;
const WORLD_MS = 1_000;
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

/** Memory of the process without the pages of the log's file, which belong to the system's cache. */
function ownMemoryMiB() {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

/** Records in all partitions, markers of rounds among them. */
async function countRecords(log) {
  let numRecords = 0;
  for (let partition = 0; partition < log.numPartitions('trajectories'); partition++) {
    numRecords += await log.endOffset('trajectories', partition);
  }
  return numRecords;
}

/** Collects rounds of the random agent; each is acknowledged as a whole before the next begins. */
async function measureWithoutModel(table) {
  const numEpisodes = Number(values.episodes);
  await withLog(async (log, directory) => {
    const control = new ControlTail(log);
    const rates = [];
    const memory = [];
    for (let round = 0; round < NUM_ROUNDS; round++) {
      const before = await countRecords(log);
      const startedAt = performance.now();
      await collectEpisodes({
        log,
        control,
        checkpoints: new CheckpointFiles(join(directory, 'checkpoints')),
        environment: getEnvironment('frozen-lake'),
        policy: 'random',
        numEpisodes,
        seed: round,
        engine: 'bench',
        codeVersion: 'bench',
        signal,
      });
      const seconds = (performance.now() - startedAt) / 1000;
      // Each episode has two more events, its start and its end.
      rates.push(((await countRecords(log)) - before - 2 * numEpisodes) / seconds);
      memory.push(ownMemoryMiB());
    }
    control.close();
    rates.sort((a, b) => a - b);
    const median = rates[(NUM_ROUNDS - 1) / 2];
    table.add('frozen-lake, random agent, to an acknowledged log', median, 'steps/s', { least: 20_000 });
    table.add('… slowest round', rates[0], 'steps/s');
    table.add('memory after the first round', memory[0], 'MiB');
    table.add(`… after round ${NUM_ROUNDS}, as a multiple`, memory.at(-1) / memory[0], '×', { most: 1.2 });
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
      const { seconds, cpuUs } = await playAgainst(url, log);
      const idealSeconds = (TURNS_EACH * latencyMs) / 1000;
      const name = `${NUM_CONCURRENT} episodes at once, ${latencyMs} ms a turn`;
      table.add(`${name}: of ideal concurrency`, (100 * idealSeconds) / seconds, '%', { least: 95 });
      table.add('… turns', (NUM_CONCURRENT * TURNS_EACH) / seconds, 'turns/s');
      table.add('… CPU of the collector', cpuUs / (NUM_CONCURRENT * TURNS_EACH), 'µs/turn');
    });
  } finally {
    server.kill();
  }
}

/** Measures the time until every episode is acknowledged, and the processor's. */
async function playAgainst(url, log) {
  const spec = getEnvironment('memory-bandit');
  const text = await openPolicyText({ tokenizer: 'word', words: spec.words });
  const service = new ServiceClient({ url, concurrency: NUM_CONCURRENT });
  const actor = new EndpointActor({
    engine: new VllmEngine(service, { timeoutMs: 30_000, maxRetries: 3 }),
    logprobMode: 'processed',
    text,
    maxTokens: 256,
    sampling: { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 1 },
    served: () => ({ policyVersion: 0, model: 'bench' }),
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
    ...{ firstTask: 0, firstOrdinal: 0, numGroups: (NUM_CONCURRENT * TURNS_EACH) / spec.maxSteps },
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
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds, cpuUs: user + system };
}

/** Steps of the random agent in each world, with nothing around it. */
async function measureWorlds(table) {
  for (const spec of listEnvironments()) {
    const agent = spec.agents.find(({ name }) => name === 'random');
    const environment = spec.create();
    const generator = new Pcg32(deriveSeed('bench', spec.name));
    const random = () => generator.nextFloat();
    // Tasks are drawn beforehand: some worlds search for one that can be solved.
    const tasks = Array.from({ length: 20 }, (_, index) =>
      spec.sampleTask({ split: 'test', index, seed: 1 }),
    );
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
    table.add(`${spec.name}, random agent`, (1000 * numSteps) / (performance.now() - startedAt), 'steps/s');
  }
}

const table = new FigureTable('The collector');
await measureWithoutModel(table);
await measureConcurrency(table);
await measureWorlds(table);
table.save(`${values.episodes} episodes in each round. The server with latency is bench/slow-engine.mjs.`);
