/**
 * Measures the main job, end to end: throughput of the whole pipeline, where its wall time goes, how soon an action is visible in
 * SQL, disk space per token, and its speed relative to the same loop in one process without log and store.
 *
 *   npm run bench -- main-job [-- --recipe NAME --updates N --rounds N]
 *
 * Runs rounds of peer, pipeline, peer: the ratio is the sum of steps over the sum of seconds, and the smallest and largest ratio of a
 * round show the machine's noise. Both sides make the same updates, so the share of time that updates take compares them as well, free
 * of changes in the host's speed between the two (but an update is slowed by the processes that run beside it). Visibility is watched
 * over the last quarter of the updates, whose throughput does not count, because watching adds queries to the store.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createStoreClient } from '@retrace/store';
import { findFreePort } from '@retrace/process/free-port';
import { makeDataDirectory, root, startRetrace } from '../test/support/cli.mjs';
import { FigureTable } from './figure-table.mjs';
import { percentile } from './timing.mjs';

const { values } = parseArgs({
  options: {
    recipe: { type: 'string', default: 'frozen-lake-ppo' },
    updates: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '3' },
  },
});
const { recipe, updates } = values;
const lastTimed = Math.floor(0.75 * Number(updates));

/** @returns {{ stepsPerSecond: number, updateShare: number }} */
function runPeer() {
  const output = execFileSync(
    process.execPath,
    [join(root, 'bench', 'train-in-memory.mjs'), recipe, '--updates', String(lastTimed), '--json'],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  return JSON.parse(output.trim().split('\n').at(-1));
}

/** Records the age of each new row when it is first seen, milliseconds: an upper bound, too high by up to the time between two looks. */
async function watchVisibility(client, stopped) {
  const ages = [];
  let seen = 0;
  while (!stopped.aborted) {
    const rows = await client
      .queryRows(
        `SELECT max(log_offset) AS last, groupArray(toFloat64(toUnixTimestamp64Micro(occurred_at)) / 1000) AS times
         FROM events WHERE log_stream = 'trajectories' AND kind = 'StepRecorded' AND log_offset > {seen:UInt64}`,
        { params: { seen } },
      )
      .catch(() => []);
    const [{ last, times } = { last: 0, times: [] }] = rows;
    const now = Date.now();
    if (seen > 0) for (const time of times) ages.push(now - time);
    seen = Math.max(seen, Number(last));
    await sleep(50);
  }
  return ages.sort((a, b) => a - b);
}

function directorySizeBytes(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

async function runPipeline() {
  const directory = makeDataDirectory();
  const port = String(await findFreePort());
  const session = startRetrace([
    'up',
    '--recipe',
    recipe,
    '--updates',
    updates,
    '--port',
    port,
    '--data-dir',
    directory.path,
  ]);
  try {
    await session.waitFor(/update 1 /, 300_000);
    const { storeUrl } = JSON.parse(readFileSync(join(directory.path, 'server.json'), 'utf8'));
    const { user, password } = JSON.parse(readFileSync(join(directory.path, 'credentials.json'), 'utf8'));
    const client = createStoreClient({ url: storeUrl, username: user, password });
    await session.waitFor(new RegExp(`update ${lastTimed} `), 1_200_000);
    const stop = new AbortController();
    const watching = watchVisibility(client, stop.signal);
    await session.waitFor(/run ended/, 1_200_000);
    stop.abort();
    const ages = await watching;
    await sleep(1000);
    const measured = await readFigures(client);
    await client.close();
    await session.stop('SIGINT');
    return { ages, ...measured, storeBytes: directorySizeBytes(join(directory.path, 'store')) };
  } finally {
    await session.killTree();
    directory.remove();
  }
}

/** Reads the run's own record from its second policy on: the first update includes TensorFlow's one-time setup, and is left out in the peer, too. */
async function readFigures(client) {
  const [{ seconds, steps, tokens }] = await client.queryRows(`
    SELECT
      (SELECT min(published_at) FROM policies WHERE policy_version = ${lastTimed}) AS last,
      (SELECT min(published_at) FROM policies WHERE policy_version >= 1) AS first,
      dateDiff('millisecond', first, last) / 1000 AS seconds,
      (SELECT sum(num_steps) FROM episodes
       WHERE split = 'train' AND policy_version_min >= 1 AND policy_version_min < ${lastTimed}) AS steps,
      (SELECT sum(num_tokens) FROM episodes) AS tokens`);
  const metrics = await client.queryRows(
    `SELECT name, sum(value) AS total, avg(value) AS mean FROM metrics
     WHERE source != 'evaluation' AND step > 1 AND step <= ${lastTimed} GROUP BY name`,
  );
  return {
    seconds: Number(seconds),
    steps: Number(steps),
    tokens: Number(tokens),
    metrics: new Map(metrics.map(({ name, total, mean }) => [name, { total, mean }])),
  };
}

const peers = [runPeer()];
const runs = [];
for (let round = 1; round <= Number(values.rounds); round++) {
  const run = await runPipeline();
  runs.push(run);
  peers.push(runPeer());
  const ratio = ratioOf(run, round - 1);
  console.log(
    `round ${round}: ${Math.round(run.steps / run.seconds)} steps/s, ${ratio.toFixed(3)} × the same loop`,
  );
}

/** Compares one run with the peers before and after it. */
function ratioOf({ steps, seconds }, round) {
  return (2 * steps) / seconds / (peers[round].stepsPerSecond + peers[round + 1].stepsPerSecond);
}

const sum = (pick) => runs.map(pick).reduce((a, b) => a + b);
const mean = (numbers) => numbers.reduce((a, b) => a + b) / numbers.length;
const seconds = sum((run) => run.seconds);
const stepsPerSecond = sum((run) => run.steps) / seconds;
const share = (name) => sum(({ metrics }) => metrics.get(name)?.total ?? 0) / seconds;
const meanOf = (name) => mean(runs.map(({ metrics }) => metrics.get(name).mean));
const peerSpeeds = peers.map((peer) => peer.stepsPerSecond);
const ratio = stepsPerSecond / mean(peerSpeeds);
const ratios = runs.map(ratioOf);
const ages = runs.flatMap((run) => run.ages);
const shares = {
  generation: share('time/generation'),
  environment: share('time/environment'),
  log: share('time/log'),
  'sink and store (until the batch is read)': share('time/read'),
  training: share('time/update'),
  checkpoint: share('time/checkpoint'),
};
const figures = new FigureTable(`The main job: ${recipe}, ${runs.length} times ${updates} updates`);
figures.add('environment steps', stepsPerSecond, '/s');
figures.add('generated tokens, while generating', meanOf('rollout/generatedTokensPerSecond'), '/s');
figures.add('trained tokens, while training', meanOf('train/tokensPerSecond'), '/s');
figures.add('same loop without log and store, mean', mean(peerSpeeds), 'steps/s');
figures.add('same loop without log and store, slowest', Math.min(...peerSpeeds), 'steps/s');
figures.add('same loop without log and store, fastest', Math.max(...peerSpeeds), 'steps/s');
figures.add('pipeline against the same loop', ratio, '×', { least: 0.7 }, { required: true });
figures.add('the same, worst round', Math.min(...ratios), '×');
figures.add('the same, best round', Math.max(...ratios), '×');
figures.add('same loop: wall time in training', 100 * mean(peers.map((peer) => peer.updateShare)), '%');
figures.add('store on disk', sum((run) => run.storeBytes) / sum((run) => run.tokens), 'bytes/token');
figures.add('action to visible in SQL, p50', percentile(ages, 0.5), 'ms');
figures.add('action to visible in SQL, p99', percentile(ages, 0.99), 'ms');
for (const [name, value] of Object.entries(shares)) figures.add(`wall time in ${name}`, 100 * value, '%');
const busy = Object.values(shares).reduce((a, b) => a + b);
figures.add('wall time idle (waiting for another process)', 100 * (1 - busy), '%');
figures.save();
