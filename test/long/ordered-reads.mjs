/**
 * Reads in key order thousands of times while a sink inserts small parts, rows arrive a second time and parts merge: no read may miss a
 * step of an episode that is in the store. There are two readers: the trainer's, of random episodes whose contents are compared, and
 * the view `steps` over the whole run. Half of the reads run with `optimize_read_in_order` off, to compare their cost.
 *
 *   npm run test:long -- ordered-reads [-- --minutes 5 --kills]
 *
 * With --kills the store is killed every 20 s and started again. The script stops at the first fault, after repeating the statement in
 * other ways.
 */
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { FigureTable } from '../../bench/figure-table.mjs';
import { FaultBench } from '../support/fault-bench.mjs';
import { seededRandom } from '../support/kill-drill.mjs';
import {
  countStepsAndCompare,
  explainFault,
  readEpisodesAndCompare,
  withSettings,
} from '../support/ordered-reads.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    kills: { type: 'boolean', default: false },
    seed: { type: 'string', default: '12' },
  },
});
const endsAtMs = performance.now() + Number(values.minutes) * 60_000;
const KILL_EVERY_MS = 20_000;
const MAX_EPISODES_A_READ = 32;
const MAX_EPISODES_A_RUN = 4_000;

const bench = await FaultBench.open();
bench.visibleWithinMs = 300_000;
/** Episodes that are completely in the store. */
const visible = [];
const counts = { reads: 0, views: 0, episodes: 0, merges: 0, kills: 0, repeats: 0 };
const tookMs = { 1: [], 0: [] };
let fault = null;
const goesOn = () => fault === null && performance.now() < endsAtMs;
/** Repeats work that fails while the store is unavailable. */
async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (!values.kills || !(error.retriable ?? true)) throw error;
    await sleep(50);
    return undefined;
  }
}

async function produce() {
  const random = seededRandom(Number(values.seed));
  while (goesOn() && visible.length < MAX_EPISODES_A_RUN) {
    const episodes = Array.from({ length: 12 }, () =>
      bench.newEpisode({ numSteps: 1 + Math.floor(random() * 12) }),
    );
    for (const events of episodes) {
      // Appended whole, event by event, or backwards, as in the soak.
      const way = random();
      const pieces =
        way < 0.4 ? [events] : way < 0.8 ? events.map((event) => [event]) : [events, events.toReversed()];
      for (const piece of pieces) await bench.append(piece);
      await sleep(2);
    }
    while ((await attempt(() => bench.untilVisible().then(() => true))) === undefined);
    visible.push(...episodes);
  }
}

async function mergeParts() {
  for (let n = 0; goesOn(); n++) {
    await attempt(() =>
      bench.client.command(n % 8 === 7 ? 'OPTIMIZE TABLE events FINAL' : 'OPTIMIZE TABLE events'),
    );
    counts.merges++;
    await sleep(20);
  }
}

/** Inserts every record a second time, in separate parts. */
async function repeat() {
  while (goesOn()) {
    await sleep(15_000);
    if (!goesOn()) return;
    const again = await bench.startSink({ mutation: 'position-forgotten' });
    await sleep(5_000);
    bench.sinks = bench.sinks.filter((sink) => sink !== again);
    await again.end('SIGTERM');
    counts.repeats++;
  }
}

async function killStore() {
  while (values.kills && goesOn()) {
    await sleep(KILL_EVERY_MS);
    await bench.restartStore();
    counts.kills++;
  }
}

async function read(seed) {
  const random = seededRandom(seed);
  for (let n = 0; goesOn(); n++) {
    if (visible.length === 0) {
      await sleep(50);
      continue;
    }
    const inOrder = n % 2;
    const client = withSettings(bench.client, { optimize_read_in_order: inOrder });
    const known = [...visible];
    const picked = new Set(
      Array.from({ length: MAX_EPISODES_A_READ }, () => Math.floor(random() * known.length)),
    );
    const isView = n % 16 >= 14;
    const look = isView
      ? (by) => countStepsAndCompare(by, bench.runId, known)
      : (by) =>
          readEpisodesAndCompare(
            by,
            bench.runId,
            [...picked].map((i) => known[i]),
          );
    const startedAt = performance.now();
    const found = await attempt(() => look(client));
    if (found === undefined) continue;
    if (isView) counts.views++;
    else {
      counts.reads++;
      counts.episodes += picked.size;
      tookMs[inOrder].push(performance.now() - startedAt);
    }
    if (found !== null && fault === null) {
      fault = `${found}; read ${inOrder === 1 ? 'in order' : 'sorted'}`;
      fault += `\n${await explainFault(bench.client, look)}`;
    }
  }
}

await bench.startSink();
try {
  await Promise.all([produce(), mergeParts(), repeat(), killStore(), read(1), read(2)]);
  const [{ rows, parts }] = await bench.client.queryRows(
    "SELECT sum(rows) AS rows, count() AS parts FROM system.parts WHERE table = 'events' AND active",
  );
  const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1] ?? NaN;
  const table = new FigureTable(
    `Reads in the order of the key while parts come and merge${values.kills ? ', the store killed' : ''}`,
  );
  table.add('reads of up to 32 random episodes, each step compared', counts.reads, '');
  table.add('… episodes in them', counts.episodes, '');
  table.add('reads of the view of all steps', counts.views, '');
  table.add('merges asked for', counts.merges, '');
  table.add('times that all rows came again', counts.repeats, '');
  table.add('kills of the store', counts.kills, '');
  table.add('rows at the end', rows, '');
  table.add('… in parts', parts, '');
  table.add('a read with optimize_read_in_order, median', median(tookMs[1]), 'ms');
  table.add('a read without, median', median(tookMs[0]), 'ms');
  table.add('reads that lacked something', fault === null ? 0 : 1, '', { most: 0 }, { required: true });
  table.save();
} finally {
  await bench.close();
}
if (fault !== null) {
  console.error(fault);
  process.exitCode = 1;
}
