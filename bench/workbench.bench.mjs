/**
 * Measures how fast the API answers for the page: its lists, filters, charts and an episode of 100,000 tokens, over 1,000 runs with 2 million steps and 50 million tokens,
 * while another run trains; and whether its memory grows while two pages stay open, the list of runs and the run that trains, of which it asks all that they ask in some hours.
 *
 *   npm run bench -- workbench [-- --runs 1000 --steps 2000000 --rounds 100 --hours 2]
 *
 * `--steps` says how many steps are written first, which takes most of the time: 300,000 of them, with 200 runs, took a minute on two busy cores.
 * The script fails when an answer comes other than with 200. Its bars (150 ms at the 99th percentile, 500 ms for the episode) are for a machine that does nothing else.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openLmdbLog } from '@retrace/log/lmdb';
import { makeDataDirectory, startRetrace } from '../test/support/cli.mjs';
import { FigureTable } from './figure-table.mjs';
import { anonymousMiB } from './pipeline-processes.mjs';
import { RecordedHistory } from './recorded-history.mjs';
import { getJson, percentile, timed } from './timing.mjs';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    steps: { type: 'string', default: '2000000' },
    rounds: { type: 'string', default: '100' },
    hours: { type: 'string', default: '2' },
  },
});
const numRounds = Number(values.rounds);
const numHours = Number(values.hours);
const START_WITHIN_MS = 600_000;
const PAUSE_MS = 20;
const MOST_MS = 150;
const MOST_EPISODE_MS = 500;
const MOST_GROWTH_MIB = 32;
/** As the page asks for later pieces of an episode. */
const STEPS_OF_LATER_PIECE = 200;

const directory = makeDataDirectory();
try {
  const history = await serving(['--no-training'], fill);
  const table = new FigureTable('The page over a long history, while a run trains');
  table.add('runs', Number(values.runs), '');
  table.add('episodes', history.numEpisodes, '');
  table.add('tokens', history.numTokens, '');
  table.add('filled in', history.fillS, 's');
  const trains = ['--recipe', 'frozen-lake-ppo', '--updates', '100000'];
  await serving(trains, (url, session) => measure(url, session, history, table));
  table.save(
    'Lists, filters, charts and the pieces of an episode are asked for one after the other, as a page asks, with 20 ms between two requests, over HTTP, JSON read. ' +
      'Totals of a run that were read are answered again for 50 times as long as that took, ten seconds at most, so most of those measured are kept ones; the 99th percentile is of one that was read. ' +
      'The memory is that of the API’s process after all requests that two open pages send in an hour, which fill what it keeps on purpose, and after the other hours’; the requests follow each other without a pause, in their order.',
  );
} finally {
  directory.remove();
}

/** Runs `work` beside `retrace up` once it serves, and returns its result. */
async function serving(more, work) {
  const session = startRetrace(['up', ...more, '--port', '0', '--data-dir', directory.path]);
  try {
    const url = await session.untilServing(START_WITHIN_MS);
    const result = await work(url, session);
    await session.stop('SIGINT');
    return result;
  } finally {
    await session.killTree();
  }
}

async function fill(url) {
  const log = await openLmdbLog({ path: join(directory.path, 'log'), createdBy: 'bench' });
  const readBehind = async () => (await getJson(`${url}/api/health`)).sink.lagRecords ?? Infinity;
  const startedAt = performance.now();
  const written = await new RecordedHistory({ log, readBehind }).write({
    numRuns: Number(values.runs),
    numSteps: Number(values.steps),
  });
  await log.close();
  return { ...written, fillS: (performance.now() - startedAt) / 1000 };
}

async function measure(url, session, { largestRunId, longEpisodeId }, table) {
  await session.waitFor(/update 3 /, START_WITHIN_MS);
  const run = `/api/runs/${largestRunId}`;
  const addresses = {
    'list of runs': '/api/runs?limit=50',
    'list of runs, found by name': '/api/runs?limit=50&search=sweep%203',
    'list of runs, of one tag': '/api/runs?limit=50&tag=lab%203',
    'list of runs, by a metric': '/api/runs?limit=50&sort=metric&metric=rollout%2Fsuccess&order=descending',
    'a run': run,
    'totals of a run': `${run}/totals`,
    'charts of a run': `${run}/metrics?maxPoints=400`,
    'list of episodes': `${run}/episodes?limit=50`,
    'list of episodes, that succeeded': `${run}/episodes?limit=50&success=true`,
    'list of episodes, by return': `${run}/episodes?limit=50&minReturn=0.5`,
    'list of episodes, of a group': `${run}/episodes?limit=50&groupId=group%2017`,
    alarms: '/api/alarms?limit=50',
  };
  const took = new Map(Object.keys(addresses).map((name) => [name, []]));
  const episodeMs = [];
  for (let round = 0; round < numRounds; round++) {
    for (const [name, address] of Object.entries(addresses)) {
      took.get(name).push(await timed(() => getJson(`${url}${address}`)));
      await sleep(PAUSE_MS);
    }
    episodeMs.push(await timed(() => readEpisode(url, run, longEpisodeId)));
  }
  for (const [name, times] of took) {
    table.add(`${name}, p50 of ${times.length}`, percentile(times, 0.5), 'ms');
    table.add(`${name}, p99`, percentile(times, 0.99), 'ms', { most: MOST_MS });
  }
  table.add('episode of 100,000 tokens, p50', percentile(episodeMs, 0.5), 'ms');
  table.add('episode of 100,000 tokens, p99', percentile(episodeMs, 0.99), 'ms', { most: MOST_EPISODE_MS });
  await measureMemory(url, session, table);
}

/** As the page reads it: piece by piece. */
async function readEpisode(url, run, episodeId) {
  const path = `${url}${run}/episodes/${episodeId}`;
  let { nextStep } = await getJson(path);
  while (nextStep !== null)
    ({ nextStep } = await getJson(`${path}/steps?maxSteps=${STEPS_OF_LATER_PIECE}&fromStep=${nextStep}`));
}

/** How often an open page asks, in milliseconds: its list of runs, and the run that trains while its live stream is open. */
function polls(trainingRunId) {
  const run = `/api/runs/${trainingRunId}`;
  return {
    '/api/health': 2_000,
    '/api/runs?limit=50': 4_000,
    '/api/alarms?limit=50': 10_000,
    '/api/runs?limit=50&sort=metric&metric=rollout%2Fsuccess&order=descending': 15_000,
    [run]: 30_000,
    [`${run}/totals`]: 30_000,
    [`${run}/metrics?maxPoints=400`]: 30_000,
    [`${run}/warnings?limit=20`]: 30_000,
    [`${run}/episodes?limit=50`]: 30_000,
  };
}

async function measureMemory(url, session, table) {
  const { api } = session.roles();
  const [training] = (await getJson(`${url}/api/runs?limit=1`)).items;
  const ofAnHour = Object.entries(polls(training.runId))
    .flatMap(([address, everyMs]) =>
      Array.from({ length: 3_600_000 / everyMs }, (_, n) => ({ address, atMs: n * everyMs })),
    )
    .toSorted((a, b) => a.atMs - b.atMs);
  const ask = async () => {
    for (const { address } of ofAnHour) await getJson(`${url}${address}`);
    return anonymousMiB(api);
  };
  const first = await ask();
  let last = first;
  for (let hour = 1; hour < numHours; hour++) last = await ask();
  table.add('requests of two open pages in an hour', ofAnHour.length, '');
  table.add('memory of the API after an hour of open pages', first, 'MiB');
  table.add(`growth after ${numHours} hours`, last - first, 'MiB', { most: MOST_GROWTH_MIB });
}
