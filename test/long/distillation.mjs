/**
 * Checks that on-policy distillation teaches: recipe `distillation` must beat imitation of the same episodes (those that succeeded,
 * with the same number of optimizer steps) on every seed. Imitation of as many episodes of the teacher is reported
 * beside it. All of them meet the same test tasks, greedily.
 *
 *   npm run test:long -- distillation [-- --seeds 1,2,3 --shared]
 *
 * About three minutes a seed, and three for the teacher. `--shared` says that the machine had other work.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { resolveRecipe } from '@retrace/config';
import { makeDataDirectory } from '../support/cli.mjs';
import { runRetrace, trainRecipe } from '../support/train-recipe.mjs';

const TEACHER = 'frozen-lake-ppo';
const NUM_TASKS = 1000;

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '1,2,3' }, shared: { type: 'boolean', default: false } },
});
const directory = makeDataDirectory();
const dataDirectory = directory.path;
const policyOf = ({ runId, policyVersion }) => `run:${runId}@${policyVersion}`;
const recipe = resolveRecipe('distillation');
const numEpisodes = recipe.numUpdates * recipe.collection.groupsPerRound * recipe.collection.groupSize;
const figures = [];
let passed = true;

/** The same model and steps without a teacher. */
const imitation = join(dataDirectory, 'imitation.json');

/** Imitates the episodes of a query that succeeded. */
function imitate(from, seed) {
  const options = ['--from', from, '--algorithm', 'filtered-imitation', '--set', 'updateTokens=false'];
  return trainRecipe({ recipe: imitation, options }, { seed, dataDirectory });
}

/** Has policies play the same tasks; returns the row of each, and the paired differences of the second to the first. */
function compare(policies, seed) {
  const options = ['--environment', recipe.environment, '--greedy', '--seed', seed, '--json'];
  const report = JSON.parse(
    runRetrace([
      ...['play', ...options, '--tasks', String(NUM_TASKS), '--concurrency', '256'],
      ...policies.flatMap((policy) => ['--policy', policy]),
      ...['--data-dir', dataDirectory],
    ]),
  );
  return {
    rates: policies.map(
      (policy) => report.rows.find((row) => row.policy === policy && row.family === null).successRate,
    ),
    difference: report.comparisons.find(
      ({ first, second }) => first === policies[0] && second === policies[1],
    ),
  };
}

/** Has the newest policy play as many episodes as a distillation; returns the id of their run. */
function collect(seed) {
  const options = ['--environment', recipe.environment, '--policy', 'latest', '--seed', seed];
  const episodes = ['--episodes', String(numEpisodes), '--json', '--data-dir', dataDirectory];
  return JSON.parse(runRetrace(['collect', ...options, ...episodes])).runId;
}

function learn(seed, teacher, collected) {
  const taught = trainRecipe({ recipe: 'distillation' }, { seed, dataDirectory });
  const own = `SELECT run_id, episode_id FROM episodes WHERE run_id = '${taught.runId}' AND split = 'train'`;
  const ofSame = imitate(own, seed);
  const ofTeacher = imitate(`SELECT run_id, episode_id FROM episodes WHERE run_id = '${collected}'`, seed);
  const policies = [ofSame, taught, ofTeacher, teacher].map(policyOf);
  const { rates, difference } = compare(policies, seed);
  const [same, distilled, offPolicy, best] = rates.map((rate) => rate.toFixed(3));
  const { difference: gain, differenceLow: low, differenceHigh: high } = difference;
  if (low <= 0) {
    passed = false;
    console.log(`MISSED: seed ${seed}: distillation better than imitation of the same episodes`);
  }
  figures.push(
    {
      name: `seed ${seed}: success, distilled`,
      value: `${distilled} (teacher ${best}); validation ${taught.curve.map(({ step, value }) => `${step}: ${value.toFixed(2)}`).join(', ')}`,
    },
    {
      name: `seed ${seed}: success, imitation of the same episodes`,
      value: `${same}; distillation gains ${gain.toFixed(3)} (95 % ${low.toFixed(3)} … ${high.toFixed(3)}; must be above 0)`,
    },
    { name: `seed ${seed}: success, imitation of as many episodes of the teacher`, value: offPolicy },
  );
  console.log(JSON.stringify(figures.slice(-3), null, 1));
}

try {
  writeFileSync(imitation, JSON.stringify({ ...recipe, name: 'imitation', distillation: null }));
  const teacher = trainRecipe({ recipe: TEACHER }, { seed: '1', dataDirectory });
  const seeds = values.seeds.split(',');
  // While no other policy is newer.
  const collected = seeds.map(collect);
  seeds.forEach((seed, i) => learn(seed, teacher, collected[i]));
} finally {
  directory.remove();
}
const title = `On-policy distillation: recipe distillation, ${numEpisodes.toLocaleString('en')} episodes, from ${TEACHER}`;
const notes = values.shared && { notes: 'The machine had other work.' };
if (process.env.RETRACE_RESULT_FILE)
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures, ...notes }));
process.exitCode = passed ? 0 : 1;
