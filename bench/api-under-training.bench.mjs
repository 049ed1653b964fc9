/**
 * Measures how fast the API lists episodes and whether appends to the log are held up while the default recipe trains on all cores,
 * compared with the same requests and appends on the same data directory with every role running and nothing training.
 *
 *   npm run bench -- api-under-training [-- --seconds 60]
 *
 * The script fails when one of these bars is missed:
 * - an episode list takes less than 200 ms at the 99th percentile;
 * - a durable append of one event takes less than 100 ms at the 99th percentile, and at the median at most 10 ms more than without
 *   training. A blocked append waits for an optimizer step, a transaction or an update, hundreds of milliseconds to seconds; the first
 *   bar tells this apart from a busy disk and a scheduler with more work than cores. The second bar is the time that a collector lets
 *   events wait before it appends them (`lingerMs`), so training adds no more to an append than an event waits in any case.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { newRunId } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { controlEvent } from '@retrace/trajectory/testing';
import { openLmdbLog } from '@retrace/log/lmdb';
import { findFreePort } from '@retrace/process/free-port';
import { makeDataDirectory, startRetrace } from '../test/support/cli.mjs';
import { FigureTable } from './figure-table.mjs';
import { getJson, percentile, timed } from './timing.mjs';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
const lastsMs = Number(values.seconds) * 1000;
/** By this update the trainer has finished all one-time setup. */
const WARM_UPDATES = 5;
const PAUSE_MS = 100;
const START_WITHIN_MS = 300_000;
const MOST_LIST_MS = 200;
const MOST_APPEND_MS = 100;
const MOST_ADDED_MS = 10;
/** Longest wait for an answer of the API. */
const ANSWER_WITHIN_MS = 30_000;

const directory = makeDataDirectory();
const port = await findFreePort();
const api = `http://127.0.0.1:${port}/api`;
const args = ['--port', String(port), '--data-dir', directory.path];

try {
  const trains = ['--recipe', 'frozen-lake-ppo', '--updates', '100000'];
  const training = await serving(trains, new RegExp(`update ${WARM_UPDATES} `), () => measure('training'));
  // A run that ends after one update leaves every role running, on a log and a store of the same size.
  const brief = ['--recipe', 'bandit-ppo', '--updates', '1', '--set', 'evaluation.numTestEpisodes=0'];
  const idle = await serving(brief, /the run has finished/, () => measure('nothing trains'));
  report(training, idle);
} finally {
  directory.remove();
}

function report(training, idle) {
  const table = new FigureTable('API and log while a policy trains on all cores');
  const required = { required: true };
  const count = training.appendMs.length;
  table.add(`episode list, p50 of ${count}`, percentile(training.listMs, 0.5), 'ms');
  table.add('episode list, p99', percentile(training.listMs, 0.99), 'ms', { most: MOST_LIST_MS }, required);
  table.add('episode list, p50 when nothing trains', percentile(idle.listMs, 0.5), 'ms');
  table.add('episode list, p99 when nothing trains', percentile(idle.listMs, 0.99), 'ms');
  const [median, idleMedian] = [percentile(training.appendMs, 0.5), percentile(idle.appendMs, 0.5)];
  table.add(`durable append of one event, p50 of ${count}`, median, 'ms');
  const p99 = percentile(training.appendMs, 0.99);
  table.add('durable append of one event, p99', p99, 'ms', { most: MOST_APPEND_MS }, required);
  table.add('durable append of one event, longest', percentile(training.appendMs, 1), 'ms');
  table.add('durable append, p50 when nothing trains', idleMedian, 'ms');
  table.add('durable append, p99 when nothing trains', percentile(idle.appendMs, 0.99), 'ms');
  const added = median - idleMedian;
  table.add('durable append, p50: what training adds', added, 'ms', { most: MOST_ADDED_MS }, required);
  table.add('updates while this was measured', training.numUpdates, '', { least: 1 }, required);
  table.save();
}

/** Runs `work` once `retrace up` has printed that it is ready, and returns its result. */
async function serving(more, isReady, work) {
  const session = startRetrace(['up', ...more, ...args]);
  try {
    console.log(`up ${more.join(' ')}: waiting for ${isReady}`);
    await session.waitFor(isReady, START_WITHIN_MS);
    const result = await work();
    await session.stop('SIGINT');
    return result;
  } finally {
    await session.killTree();
  }
}

async function measure(what) {
  console.log(`${what}: measuring for ${lastsMs / 1000} s`);
  const { items } = await readApi('runs');
  // The oldest run holds the episodes in both phases.
  const { runId } = items.at(-1);
  const numUpdates = async () => (await readApi(`runs/${runId}`)).policyVersion;
  const before = await numUpdates();
  const log = await openLmdbLog({ path: join(directory.path, 'log'), createdBy: 'bench' });
  const record = encodeEvent(
    controlEvent({ logId: log.logId, runId: newRunId() }, 'MetricsLogged', {
      source: 'system',
      step: 0,
      names: ['bench/append'],
      values: Float64Array.of(1),
    }),
  );
  const listMs = [];
  const appendMs = [];
  const until = performance.now() + lastsMs;
  while (performance.now() < until) {
    listMs.push(
      await timed(async () => {
        const { length } = (await readApi(`runs/${runId}/episodes?limit=50`)).items;
        if (length !== 50) throw new Error(`the episode list has ${length} episodes; must have 50`);
      }),
    );
    appendMs.push(await timed(() => log.append('control', 0, [record])));
    await sleep(PAUSE_MS);
  }
  await log.close();
  return { listMs, appendMs, numUpdates: (await numUpdates()) - before };
}

function readApi(path) {
  return getJson(`${api}/${path}`, ANSWER_WITHIN_MS);
}
