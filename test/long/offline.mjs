/**
 * Trains on a stored history alone, and plays afterwards: the policy must be better than the one that it began with and than the mean of
 * those that made the history. A quarter of the history is held out: off-policy estimates from it must agree with what was then played, four
 * of five at least, or be refused. Imitation of the best quarter is not tried on the bandit, where the best were mostly lucky: .35 → .38 with one seed.
 *
 *   npm run test:long -- offline [-- --seeds 1,2,3]
 *
 * Takes some five minutes.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { makeDataDirectory, runRetrace as run } from '../support/cli.mjs';
import { runRetrace } from '../support/train-recipe.mjs';

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '1,2,3' } } });
const NUM_PLAYED = 1000;
/** Of groups that training does not see. */
const HELD_OUT = 'cityHash64(group_id) % 4 = 0';
const Z = 1.96;
const worlds = [
  { recipe: 'frozen-lake-grpo', algorithm: 'filtered-imitation', historyUpdates: 30, numUpdates: 40 },
  { recipe: 'memory-bandit-grpo', algorithm: 'grpo', historyUpdates: 12, numUpdates: 30 },
];
const PLAIN = ['--set', 'evaluation.everyUpdates=0', '--set', 'evaluation.numTestEpisodes=0'];

/** Share of the intervals of importance sampling that must agree: of 95 % intervals from some 40 effective episodes a few do not. */
const LEAST_AGREEING = 0.8;

const figures = [];
const compared = { numAgreeing: 0, number: 0 };
let hasFailed = false;
function report(name, value, unit) {
  figures.push({ name, value, ...(unit && { unit }) });
  console.log(`${name}: ${value}`);
}

const percent = (value) => value.toFixed(3);
const range = ({ low, high }) => `${percent(low)} … ${percent(high)}`;

/** Goes through the commands that a user would give: train, train on what that stored, play, evaluate. */
async function tryWorld({ recipe, algorithm, historyUpdates, numUpdates }, seed) {
  const of = `${recipe} by ${algorithm}, seed ${seed}`;
  const directory = makeDataDirectory();
  const at = ['--data-dir', directory.path];
  const train = (...args) =>
    JSON.parse(runRetrace(['train', '--seed', seed, ...PLAIN, ...args, '--json', ...at])).runId;
  const ask = (sql) => JSON.parse(runRetrace(['sql', sql, '--format', 'json', ...at]));
  try {
    const history = train('--recipe', recipe, '--updates', String(historyUpdates));
    const chosen = `SELECT run_id, arrayJoin(episode_ids) AS episode_id FROM groups
      WHERE run_id = '${history}' AND split = 'train' AND trainable AND NOT ${HELD_OUT}`;
    const offline = train('--from', chosen, '--algorithm', algorithm, '--updates', String(numUpdates));
    const [{ behavior }] = ask(
      `SELECT avg(success) AS behavior FROM episodes WHERE run_id = '${history}' AND split = 'train'`,
    );
    const [first, last] = [`run:${offline}@0`, `run:${offline}`];
    const played = JSON.parse(
      runRetrace([
        ...['play', '--recipe', recipe, '--policy', first, '--policy', last, '--split', 'train'],
        ...['--seed', '90210', '--tasks', String(NUM_PLAYED), '--json', ...at],
      ]),
    );
    const row = (policy) => played.rows.find((one) => one.policy === policy && one.family === null);
    const after = row(last);
    report(`${of}: success of the policies that played the history`, percent(Number(behavior)));
    report(`${of}: … of the policy that training began with`, percent(row(first).successRate));
    const measured = { low: after.successLow, high: after.successHigh };
    report(
      `${of}: … after training on the history alone`,
      `${percent(after.successRate)} (${range(measured)})`,
    );
    const isBetter = measured.low > Math.max(Number(behavior), row(first).successHigh);
    if (!isBetter) hasFailed = true;
    const playedRun = played.runs.find(({ policy }) => policy === last).runId;
    const [{ mean, error }] = ask(
      `SELECT avg(return) AS mean, stddevSamp(return) / sqrt(count()) AS error FROM episodes WHERE run_id = '${playedRun}'`,
    );
    const bounds = { low: Number(mean) - Z * Number(error), high: Number(mean) + Z * Number(error) };
    report(`${of}: mean return as played`, `${percent(Number(mean))} (${range(bounds)})`);
    await compareEstimates(of, { history, offline, at, played: bounds });
  } finally {
    directory.remove();
  }
}

/** Estimates from the held-out quarter; exit 3 is a refusal. */
async function compareEstimates(of, { history, offline, at, played }) {
  const { stdout, code } = await run([
    'evaluate',
    '--run',
    history,
    '--policy',
    `${offline}/latest`,
    '--json',
    ...at,
  ]);
  const { estimates, refusal, unavailable, diagnostics } = JSON.parse(stdout);
  report(`${of}: effective episodes held out`, Number(diagnostics.effectiveEpisodes.toFixed(1)));
  if (refusal !== null) {
    report(`${of}: estimates`, `refused: ${refusal}`);
    hasFailed ||= code !== 3;
    return;
  }
  for (const { estimator, value, interval } of estimates) {
    const agrees = interval.low <= played.high && interval.high >= played.low;
    // The Q model alone has the bias of its features.
    if (estimator !== 'fittedQ') {
      compared.number += 1;
      compared.numAgreeing += Number(agrees);
    }
    report(
      `${of}: ${estimator}, ${agrees ? 'agrees' : 'disagrees'}`,
      `${percent(value)} (${range(interval)})`,
    );
  }
  for (const { estimator } of unavailable) report(`${of}: ${estimator}`, 'refused');
}

for (const world of worlds) for (const seed of values.seeds.split(',')) await tryWorld(world, seed);
report('intervals that agree, without those of fittedQ', `${compared.numAgreeing} of ${compared.number}`);
if (compared.numAgreeing < LEAST_AGREEING * compared.number) hasFailed = true;
if (process.env.RETRACE_RESULT_FILE) {
  const title = 'Training on a stored history alone';
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
process.exitCode = hasFailed ? 1 : 0;
