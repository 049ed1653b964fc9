/**
 * Compares a run from scratch with one that is half trained on the episodes of an older run: environment steps until four of five episodes
 * succeed, paired by seed.
 *
 *   npm run test:long -- mixed-history [-- --seeds 1,2,3,4,5]
 *
 * Takes some ten minutes. What is learned depends on the seed alone, so other work on the machine changes only the time.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { makeDataDirectory } from '../support/cli.mjs';
import { comparePairs } from '../support/paired-differences.mjs';
import { runRetrace } from '../support/train-recipe.mjs';

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '1,2,3,4,5' } } });
const seeds = values.seeds.split(',');
const GOAL = 0.8;
/** Episodes whose mean success must reach the goal. */
const WINDOW = 256;
/** Seeds of the older runs are others. */
const HISTORY_SEED_OFFSET = 100;
const SETTINGS = [
  ...['environment=fixed-lake', 'collection.groupsPerRound=128', 'collection.concurrentEpisodes=128'],
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'],
].flatMap((assignment) => ['--set', assignment]);
const NUM_UPDATES = '60';

const figures = [];
function report(name, value, unit) {
  figures.push({ name, value, ...(unit && { unit }) });
  console.log(`${name}: ${value}`);
}

/** Environment steps until the last `WINDOW` training episodes have a mean success of the goal; NaN where they never do. */
function stepsToGoal(runId, at) {
  const episodes = JSON.parse(
    runRetrace([
      ...[
        'sql',
        `SELECT num_steps, success FROM episodes WHERE run_id = '${runId}' AND split = 'train' ORDER BY ended_at, episode_id`,
      ],
      ...['--format', 'json', ...at],
    ]),
  );
  let numSteps = 0;
  let numSuccesses = 0;
  for (const [n, episode] of episodes.entries()) {
    numSteps += Number(episode.num_steps);
    numSuccesses += Number(episode.success);
    if (n >= WINDOW) numSuccesses -= Number(episodes[n - WINDOW].success);
    if (n + 1 >= WINDOW && numSuccesses >= GOAL * WINDOW) return numSteps;
  }
  return Number.NaN;
}

/** @returns {{ scratch: number, mixed: number }} environment steps to the goal */
function compare(seed) {
  const directory = makeDataDirectory();
  const at = ['--data-dir', directory.path];
  const train = (ofSeed, ...args) =>
    JSON.parse(
      runRetrace([
        ...['train', '--recipe', 'frozen-lake-ppo', '--updates', NUM_UPDATES, '--seed', String(ofSeed)],
        ...[...SETTINGS, ...args, '--json', ...at],
      ]),
    ).runId;
  try {
    const history = train(Number(seed) + HISTORY_SEED_OFFSET);
    const scratch = train(seed);
    const sources = [{ from: 'own' }, { from: 'run', run: history }];
    const mixed = train(seed, '--set', `data=${JSON.stringify({ sources })}`, '--set', 'sampler.rule=newest');
    return { scratch: stepsToGoal(scratch, at), mixed: stepsToGoal(mixed, at) };
  } finally {
    directory.remove();
  }
}

const differences = seeds.map((seed) => {
  const { scratch, mixed } = compare(seed);
  report(`seed ${seed}: from scratch`, scratch, 'steps');
  report(`seed ${seed}: half on the older run's episodes`, mixed, 'steps');
  return scratch - mixed;
});
const { mean, low, high } = comparePairs(differences);
const range = `${Math.round(low)} … ${Math.round(high)}`;
report(`steps fewer, paired, with the 95 % interval`, `${Math.round(mean)} (${range})`);
if (process.env.RETRACE_RESULT_FILE) {
  const title = 'A run half trained on an older one';
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
process.exitCode = low > 0 ? 0 : 1;
