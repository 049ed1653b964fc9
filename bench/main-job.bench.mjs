/**
 * The main job, end to end: throughput of the whole pipeline, where its wall time goes, how soon an action is visible in SQL,
 * what a token costs on disk, and its speed against the same loop in one process without log and store.
 *
 *   npm run bench -- main-job [-- --recipe NAME --updates N]
 *
 * The peer runs before and after the pipeline, in the same command: the ratio is against their mean. Visibility is watched over
 * the last quarter of the updates, whose throughput does not count, because watching costs the store queries.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createStoreClient } from '@retrace/trajectory/clickhouse';
import { findFreePort, Session } from '../test/support/cli.mjs';

const { values } = parseArgs({
  options: {
    recipe: { type: 'string', default: 'frozen-lake-ppo' },
    updates: { type: 'string', default: '60' },
  },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const retrace = join(root, 'apps', 'cli', 'bin', 'retrace.mjs');
const dataDirectory = mkdtempSync(join(tmpdir(), 'retrace-bench-'));
const { recipe, updates } = values;
const lastTimed = Math.floor(0.75 * Number(updates));

function peerStepsPerSecond() {
  const output = execFileSync(
    process.execPath,
    [join(root, 'bench', 'in-memory-loop.mjs'), recipe, '--updates', String(lastTimed), '--json'],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  return JSON.parse(output.trim().split('\n').at(-1)).stepsPerSecond;
}

/** Every new row's age when it is first seen, in milliseconds: an upper bound, by the time between two looks. */
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

const before = peerStepsPerSecond();

const port = await findFreePort();
const session = new Session(process.execPath, [
  retrace,
  'up',
  '--recipe',
  recipe,
  '--updates',
  updates,
  '--port',
  String(port),
  '--data-dir',
  dataDirectory,
]);
await session.waitFor(/update 1 /, 300_000);
const { storeUrl } = JSON.parse(readFileSync(join(dataDirectory, 'server.json'), 'utf8'));
const { user, password } = JSON.parse(readFileSync(join(dataDirectory, 'credentials.json'), 'utf8'));
const client = createStoreClient({ url: storeUrl, username: user, password });
await session.waitFor(new RegExp(`update ${lastTimed} `), 1_200_000);
const stop = new AbortController();
const watching = watchVisibility(client, stop.signal);
await session.waitFor(/run ended/, 1_200_000);
stop.abort();
const ages = await watching;
await sleep(1000);
// The first update pays for what TensorFlow sets up once; as in the peer, timing begins after it.
const [totals] = await client.queryRows(`
  SELECT
    (SELECT min(published_at) FROM policies WHERE policy_version = ${lastTimed}) AS last,
    (SELECT min(published_at) FROM policies WHERE policy_version >= 1) AS first,
    dateDiff('millisecond', first, last) / 1000 AS seconds,
    (SELECT sum(num_steps) FROM episodes
     WHERE split = 'train' AND policy_version_min >= 1 AND policy_version_min < ${lastTimed}) AS steps,
    (SELECT sum(num_tokens) FROM episodes) AS tokens`);
const sums = Object.fromEntries(
  (
    await client.queryRows(
      `SELECT name, sum(value) AS total, avg(value) AS mean FROM metrics
       WHERE source != 'evaluation' AND step > 1 AND step <= ${lastTimed} GROUP BY name`,
    )
  ).map(({ name, total, mean }) => [name, { total, mean }]),
);
await client.close();
await session.stop('SIGINT');
const storeBytes = directorySizeBytes(join(dataDirectory, 'store'));
rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });

const after = peerStepsPerSecond();

const seconds = Number(totals.seconds);
const stepsPerSecond = Number(totals.steps) / seconds;
const share = (...names) => names.reduce((sum, name) => sum + (sums[name]?.total ?? 0), 0) / seconds;
const ratio = (2 * stepsPerSecond) / (before + after);
const percentile = (q) => ages[Math.min(ages.length - 1, Math.floor(q * ages.length))] ?? Number.NaN;
const shares = {
  generation: share('time/generation'),
  environment: share('time/environment'),
  log: share('time/log'),
  'sink and store (until the batch is read)': share('time/read'),
  training: share('time/update'),
  checkpoint: share('time/checkpoint'),
};
const figures = [
  { name: 'environment steps', value: stepsPerSecond, unit: '/s' },
  {
    name: 'generated tokens, while generating',
    value: sums['rollout/generatedTokensPerSecond'].mean,
    unit: '/s',
  },
  { name: 'trained tokens, while training', value: sums['train/tokensPerSecond'].mean, unit: '/s' },
  { name: 'same loop without log and store, before', value: before, unit: 'steps/s' },
  { name: 'same loop without log and store, after', value: after, unit: 'steps/s' },
  { name: 'pipeline against the same loop (at least 0.7)', value: ratio, unit: '×' },
  { name: 'store on disk', value: storeBytes / Number(totals.tokens), unit: 'bytes/token' },
  { name: 'action to visible in SQL, p50', value: percentile(0.5), unit: 'ms' },
  { name: 'action to visible in SQL, p99', value: percentile(0.99), unit: 'ms' },
  ...Object.entries(shares).map(([name, value]) => ({
    name: `wall time in ${name}`,
    value: 100 * value,
    unit: '%',
  })),
  {
    name: 'wall time idle (waiting for another process)',
    value: 100 * (1 - Object.values(shares).reduce((a, b) => a + b)),
    unit: '%',
  },
];
for (const { name, value, unit } of figures)
  console.log(`${name.padEnd(52)} ${Number(value.toPrecision(4))} ${unit}`);
if (process.env.RETRACE_RESULT_FILE) {
  const title = `The main job: ${recipe}, ${updates} updates`;
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
process.exitCode = ratio >= 0.7 ? 0 : 1;
