/**
 * Checks that each algorithm of `--algorithm` learns: random lakes from random weights, the same model, learning rate, number of updates and
 * episodes of an update for all. Afterwards the first policy, the last one and random legal play meet the same test tasks, greedily. On every
 * seed the 95 % interval of the paired gain must be above 0 and the last policy better than random play, and the mean must be at least .5.
 *
 *   npm run test:long -- algorithms-learn [-- --only dapo [--only …] --seeds 1,2,3 --shared]
 *
 * About a minute for each seed of an algorithm. `--shared` says that the machine had other work.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { listAlgorithms, resolveRecipe } from '@retrace/config';
import { makeDataDirectory } from '../support/cli.mjs';
import { playHeldOut } from '../support/held-out-success.mjs';
import { trainRecipe } from '../support/train-recipe.mjs';

const RECIPE = 'frozen-lake-ppo';
const NUM_UPDATES = 100;
const EPISODES_PER_UPDATE = 256;
const LEAST_SUCCESS = 0.5;
const AGENTS = ['random'];

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seeds: { type: 'string', default: '1,2,3' },
    shared: { type: 'boolean', default: false },
  },
});
const seeds = values.seeds.split(',');
const figures = [];
let passed = true;

function demand(holds, rule) {
  if (holds) return;
  passed = false;
  console.log(`MISSED: ${rule}`);
}

/** The recipe with an algorithm, whose groups together make as many episodes for all. */
function recipeOf(algorithm) {
  const overrides = { algorithm, numUpdates: NUM_UPDATES };
  const { groupSize } = resolveRecipe(RECIPE, overrides).collection;
  const settings = [
    `collection.groupsPerRound=${EPISODES_PER_UPDATE / groupSize}`,
    `collection.concurrentEpisodes=${EPISODES_PER_UPDATE}`,
    'evaluation.everyUpdates=0',
  ];
  const options = ['--algorithm', algorithm, '--updates', String(NUM_UPDATES)];
  for (const setting of settings) options.push('--set', setting);
  return { recipe: resolveRecipe(RECIPE, { ...overrides, assignments: settings }), options };
}

const format = (rate) => rate.toFixed(3);
const withInterval = (mean, low, high) => `${format(mean)} (${format(low)} … ${format(high)})`;

/** Trains with a seed and compares; returns success of the last policy and minutes from the first policy to the last. */
function learn(algorithm, seed) {
  const { recipe, options } = recipeOf(algorithm);
  const directory = makeDataDirectory();
  try {
    const run = trainRecipe({ recipe: RECIPE, options }, { seed, dataDirectory: directory.path });
    const { earlier, last, agents, difference } = playHeldOut(run, {
      ...{ recipe, earlierVersion: 0, agents: AGENTS, seed, dataDirectory: directory.path },
    });
    const of = `${algorithm}, seed ${seed}`;
    demand(difference.low > 0, `${of}: better than the first policy`);
    demand(last.low > agents.random.high, `${of}: better than random play`);
    figures.push({
      name: of,
      value: `${withInterval(last.rate, last.low, last.high)}; at first ${format(earlier.rate)}, random ${format(agents.random.rate)}`,
    });
    return { success: last.rate, minutes: run.minutes };
  } finally {
    directory.remove();
  }
}

for (const { name } of listAlgorithms()) {
  if (values.only?.includes(name) === false) continue;
  const runs = seeds.map((seed) => learn(name, seed));
  const success = runs.reduce((sum, run) => sum + run.success, 0) / runs.length;
  demand(success >= LEAST_SUCCESS, `${name}: mean success at least ${LEAST_SUCCESS}`);
  figures.push(
    { name: `${name}: mean success (at least ${LEAST_SUCCESS})`, value: success },
    {
      name: `${name}: longest training`,
      value: Math.max(...runs.map(({ minutes }) => minutes)),
      unit: 'min',
    },
  );
  console.log(JSON.stringify(figures.slice(-2 - runs.length), null, 1));
}

const TITLE = `Greedy success of each algorithm on test lakes, ${NUM_UPDATES} updates of ${EPISODES_PER_UPDATE} episodes`;
const notes = values.shared && { notes: 'The machine had other work: times are upper bounds.' };
if (process.env.RETRACE_RESULT_FILE)
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title: TITLE, figures, ...notes }));
process.exitCode = passed ? 0 : 1;
