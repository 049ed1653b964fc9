/**
 * Compares synchronous with asynchronous training where a step of the environment takes 20 ms: the same recipe and number of updates
 * with several bounds of staleness. Wall time, staleness, effective sample size and what is learned, side by side.
 *
 *   npm run bench -- asynchronous [-- --updates 60 --seeds 1,2,3 --step-ms 20]
 *
 * The whole command `retrace train` runs, with collector, log, sink and store; seconds are from the first policy to the last.
 */
import { parseArgs } from 'node:util';
import { makeDataDirectory } from '../test/support/cli.mjs';
import { runRetrace } from '../test/support/train-recipe.mjs';
import { FigureTable } from './figure-table.mjs';

const { values } = parseArgs({
  options: {
    updates: { type: 'string', default: '60' },
    seeds: { type: 'string', default: '1,2,3' },
    'step-ms': { type: 'string', default: '20' },
  },
});
const STALENESS = [0, 1, 4, 8];
const GOAL = 0.4;
const NUM_LAST = 10;
const environment = JSON.stringify({
  module: new URL('slow-lake.mjs', import.meta.url).pathname,
  options: { stepMs: Number(values['step-ms']) },
});
const settings = [
  `environment=${environment}`,
  'collection.concurrentEpisodes=128',
  'evaluation.everyUpdates=0',
  'evaluation.numTestEpisodes=0',
  // Without effect on fresh tokens; with stale ones it corrects for the policy that sampled.
  'loss.rolloutCorrection={"importance":{"level":"token","cap":2}}',
];

const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** Trains once, and returns what the store knows of it. */
function train(maxStaleness, seed) {
  const directory = makeDataDirectory();
  const at = ['--data-dir', directory.path];
  try {
    const assignments = [...settings, `collection.maxStaleness=${maxStaleness}`].flatMap((one) => [
      '--set',
      one,
    ]);
    const run = ['--recipe', 'frozen-lake-grpo', '--updates', values.updates, '--seed', seed];
    const { runId } = JSON.parse(runRetrace(['train', ...run, ...assignments, '--json', ...at]));
    const ask = (sql) => JSON.parse(runRetrace(['sql', sql, '--format', 'json', ...at]));
    // The first update pays for what TensorFlow sets up once.
    const [{ seconds, first }] = ask(
      `SELECT dateDiff('millisecond', min(published_at), max(published_at)) / 1000 AS seconds, min(published_at) AS first
       FROM policies WHERE run_id = '${runId}' AND policy_version > 0`,
    );
    const metrics = ask(
      `SELECT name, step, value, dateDiff('millisecond', toDateTime64('${first}', 6), occurred_at) / 1000 AS at
       FROM metrics WHERE run_id = '${runId}' ORDER BY step`,
    );
    return { seconds: Number(seconds), metrics };
  } finally {
    directory.remove();
  }
}

const valuesOf = ({ metrics }, name) =>
  metrics.filter((one) => one.name === name).map(({ step, value, at }) => ({ step, value, at: Number(at) }));

/** Mean staleness of the trained tokens, from the counts by version. */
function meanStaleness(run) {
  const counts = run.metrics.flatMap(({ name, value }) => {
    const match = /^correction\/staleness(\d+)$/.exec(name);
    return match ? [{ versions: Number(match[1]), value }] : [];
  });
  const total = counts.reduce((sum, { value }) => sum + value, 0);
  return counts.reduce((sum, { versions, value }) => sum + versions * value, 0) / total;
}

/** When the mean success of the last ten updates first reaches the goal; NaN where it never does. */
function reached(run) {
  const curve = valuesOf(run, 'success/mean');
  const found = curve.find(
    (_, n) =>
      n + 1 >= NUM_LAST && mean(curve.slice(n + 1 - NUM_LAST, n + 1).map(({ value }) => value)) >= GOAL,
  );
  return { seconds: found?.at ?? Number.NaN, updates: found?.step ?? Number.NaN };
}

const table = new FigureTable(`Asynchronous training, ${values['step-ms']} ms a step`);
const seeds = values.seeds.split(',');
const runs = new Map(STALENESS.map((bound) => [bound, []]));
for (const seed of seeds) for (const bound of STALENESS) runs.get(bound).push(train(bound, seed));
const secondsOf = (bound) => mean(runs.get(bound).map(({ seconds }) => seconds));
for (const bound of STALENESS) {
  const ofBound = runs.get(bound);
  const over = (of) => mean(ofBound.map(of));
  const last = (run) =>
    mean(
      valuesOf(run, 'success/mean')
        .slice(-NUM_LAST)
        .map(({ value }) => value),
    );
  const metric = (name) => over((run) => mean(valuesOf(run, name).map(({ value }) => value)));
  table.add(`maxStaleness ${bound}: from the first update to the last`, secondsOf(bound), 's');
  if (bound > 0) {
    const aim = bound === Math.max(...STALENESS) ? { least: 1.5 } : null;
    table.add('… times as fast as synchronous', secondsOf(0) / secondsOf(bound), '×', aim);
  }
  table.add('… an update waits for episodes', metric('time/wait'), 's');
  table.add('… an update computes', metric('time/update'), 's');
  table.add('… mean staleness of a token', over(meanStaleness), 'versions');
  table.add(
    '… effective sample size of the weights',
    metric('correction/weightEffectiveSampleFraction'),
    'of 1',
  );
  table.add(`… success in the last ${NUM_LAST} updates`, over(last), '');
  const arrivals = ofBound.map(reached).filter(({ updates }) => !Number.isNaN(updates));
  table.add(`… seeds that reached a success of ${GOAL}`, arrivals.length, `of ${seeds.length}`);
  if (arrivals.length < seeds.length) continue;
  table.add('… updates until then', mean(arrivals.map(({ updates }) => updates)), '');
  table.add('… seconds until then', mean(arrivals.map(({ seconds }) => seconds)), 's');
}
table.save(`Means of ${seeds.length} seeds, ${values.updates} updates each.`);
