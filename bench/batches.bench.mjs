/**
 * Measures batches for other trainers over HTTP: from the request to the bytes, and to torch in Python. A recorded run of 1,024 episodes, 4 steps each of
 * 1,024 tokens; batches of several sizes, drawn at random, with GRPO's advantages. And of updates that are recorded, from the request until the log has them.
 * API, store and the process that makes a batch share this machine.
 *
 *   npm run bench -- batches [-- --episodes 1024]
 *
 * Torch needs RETRACE_PEER_PYTHON, a Python with torch, httpx and pyarrow.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs, TextDecoder } from 'node:util';
import { makeDataDirectory, root, startRetrace } from '../test/support/cli.mjs';
import { FigureTable } from './figure-table.mjs';

const { values } = parseArgs({ options: { episodes: { type: 'string', default: '1024' } } });
const numEpisodes = Number(values.episodes);
const GROUP_SIZE = 8;
const NUM_STEPS = 4;
const STEP_TOKENS = 1024;
const NUM_OBSERVED = STEP_TOKENS / 2;
const TOKENS_PER_EPISODE = NUM_STEPS * STEP_TOKENS;
const EPISODES_PER_REQUEST = 32;
const NUM_RUNS = 3;

const python = process.env.RETRACE_PEER_PYTHON;
const directory = makeDataDirectory();
const table = new FigureTable('Batches for other trainers');
const session = startRetrace(['up', '--no-training', '--port', '0', '--data-dir', directory.path]);
try {
  const url = await session.untilServing();
  const runId = await record(url);
  const all = numEpisodes / GROUP_SIZE;
  for (const groups of [1, all / 8, all]) await measure({ url, runId, groups });
  await post(`${url}/api/runs/${runId}/policies`, { policyVersion: 0 });
  for (const count of [numEpisodes / 16, numEpisodes]) await measureUpdate({ url, runId, count });
  table.save(
    python === undefined ? 'Torch is left out, because RETRACE_PEER_PYTHON names no Python.' : undefined,
  );
} finally {
  await session.killTree();
  directory.remove();
}

/** The best of a few runs: others on this machine only make it slower. */
async function measure({ url, runId, groups }) {
  const numTokens = groups * GROUP_SIZE * TOKENS_PER_EPISODE;
  const name = `${numTokens.toLocaleString('en')} tokens`;
  const seconds = [];
  let numBytes = 0;
  for (let n = 0; n < NUM_RUNS; n++) {
    const startedMs = performance.now();
    const bytes = await post(`${url}/api/runs/${runId}/batches`, { groups, seed: n });
    seconds.push((performance.now() - startedMs) / 1000);
    numBytes = bytes.byteLength;
  }
  const best = Math.min(...seconds);
  table.add(`${name}: from request to bytes`, best, 's');
  table.add(`${name}: rate`, numTokens / best, 'tokens/s');
  table.add(`${name}: size`, numBytes / numTokens, 'bytes/token');
  if (python === undefined) return;
  const script = join(root, 'bench', 'peers', 'read_batch.py');
  const env = { ...process.env, PYTHONPATH: join(root, 'clients', 'python', 'src') };
  const output = execFileSync(python, [script, url, runId, String(groups)], { encoding: 'utf8', env });
  const read = JSON.parse(output);
  table.add(`${name}: from request to torch`, read.seconds, 's');
  table.add(`${name}: from bytes to torch`, numTokens / read.viewSeconds, 'tokens/s', { least: 20e6 });
}

/** An update with all that its episodes may have; the best of a few. */
async function measureUpdate({ url, runId, count }) {
  const ofEpisode = {
    ...{
      times: 1,
      numTokens: TOKENS_PER_EPISODE / 2,
      weight: 0.8125,
      reward: 0.5,
      digest: '0123456789abcdef',
    },
    advantage: { mean: 0.7071068, deviation: 0.1234567, min: -0.5, max: 1.25 },
  };
  const episodes = Array.from({ length: count }, (_, e) => ({ episode: `episode-${e}`, ...ofEpisode }));
  const update = { policyVersionIn: 0, engine: { kind: 'bench' }, episodes, stepLosses: [0.5] };
  const seconds = [];
  for (let n = 0; n < NUM_RUNS; n++) {
    const startedMs = performance.now();
    await post(`${url}/api/runs/${runId}/updates`, update);
    seconds.push((performance.now() - startedMs) / 1000);
  }
  const name = `update of ${count.toLocaleString('en')} episodes`;
  table.add(`${name}: from request to acknowledgement`, Math.min(...seconds), 's');
}

async function record(url) {
  const { runId } = JSON.parse(new TextDecoder().decode(await post(`${url}/api/runs`, { name: 'bench' })));
  for (let first = 0; first < numEpisodes; first += EPISODES_PER_REQUEST) {
    const records = Array.from({ length: EPISODES_PER_REQUEST }, (_, e) => recordsOf(first + e)).flat();
    await post(`${url}/api/runs/${runId}/records`, records);
  }
  const query = `SELECT count() FROM episodes WHERE run_id = '${runId}' AND sealed`;
  for (;;) {
    const { rows } = JSON.parse(new TextDecoder().decode(await post(`${url}/api/sql`, { query })));
    if (rows[0][0] === numEpisodes) return runId;
  }
}

function recordsOf(number) {
  const episode = `episode-${number}`;
  const groupId = `group-${Math.floor(number / GROUP_SIZE)}`;
  const steps = Array.from({ length: NUM_STEPS }, (_, step) => ({
    ...{ type: 'step', episode, step, observation: '', action: '', reward: Math.random() },
    ...{ sampling: { temperature: 1 }, logprobMode: 'processed', tokens: tokensOf(step) },
  }));
  return [
    { type: 'episode', episode, groupId, environment: 'bench', task: {} },
    ...steps,
    { type: 'end', episode, success: true },
  ];
}

function tokensOf(step) {
  const of = (value) => Array.from({ length: STEP_TOKENS }, (_, t) => value(t >= NUM_OBSERVED));
  return {
    ids: of(() => Math.floor(Math.random() * 150_000)),
    mask: of(Number),
    logprobs: of((isSampled) => (isSampled ? -Math.random() : null)),
    keptPrefix: step * STEP_TOKENS,
  };
}

async function post(url, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const bytes = await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url}: ${new TextDecoder().decode(bytes)}`);
  return bytes;
}
