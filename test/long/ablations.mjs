/**
 * Trains each algorithm with and without the part that gives it its name, paired by seed: same task, model, first weights, learning rate and
 * number of updates. Two figures of each run: success of all its training episodes, which is how soon it learned, and greedy success on the
 * test tasks, which is what it learned in the end. The 95 % interval (Student's t) of the paired difference of the figure that a comparison
 * names must be above 0. What is learned on the machine does not depend on its load where a run is synchronous; the runs at staleness 8 collect
 * while they train, and how far their data are behind is reported.
 *
 *   npm run test:long -- ablations [-- --only gigpo [--only …] --seeds 1,2,3,4,5,6,7,8]
 *
 * Some ten minutes for each comparison. Each is recorded by itself, in `docs/results/ablations/<name>.md`.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { makeDataDirectory } from '../support/cli.mjs';
import { comparePairs } from '../support/paired-differences.mjs';
import { runRetrace } from '../support/train-recipe.mjs';

/** Arguments of `retrace train` that give recipe fields these values. */
const set = (fields) =>
  Object.entries(fields).flatMap(([field, value]) => ['--set', `${field}=${JSON.stringify(value)}`]);

const STALE = { 'collection.maxStaleness': 8 };
const GROUPS = { 'collection.groupSize': 8 };
const MAZE = set({
  environment: 'lmrl-maze',
  ...GROUPS,
  'collection.groupsPerRound': 16,
  'collection.concurrentEpisodes': 128,
  'loss.aggregation': 'tokenMean',
});
/** Long ways to a reward: what a critic knows of a position halfway is worth more there than on lakes of ten moves. */
const MAZE_PPO = ['--recipe', 'frozen-lake-ppo', '--updates', '25', ...MAZE];
const LAKE = set({ 'collection.groupsPerRound': 256, 'collection.concurrentEpisodes': 256 });
const LAKE_GROUPS = set({ ...GROUPS, 'collection.groupsPerRound': 32, 'collection.concurrentEpisodes': 256 });

const comparisons = [
  {
    name: 'gigpo',
    what: 'GiGPO over GRPO, on a maze of up to 50 moves that pays at its end only',
    args: ['--recipe', 'frozen-lake-grpo', '--updates', '25', ...MAZE],
    with: ['--algorithm', 'gigpo'],
    without: ['--algorithm', 'grpo'],
    judged: 'training',
  },
  {
    name: 'decoupled-ppo',
    what: 'Decoupled PPO over PPO, on random lakes, at a bound of staleness of 8',
    args: ['--recipe', 'frozen-lake-ppo', '--updates', '100', ...LAKE, ...set(STALE)],
    with: ['--algorithm', 'decoupled-ppo'],
    without: ['--algorithm', 'ppo'],
    judged: 'training',
  },
  {
    name: 'correction',
    what: 'Importance weights over none, GRPO on random lakes at a bound of staleness of 8',
    args: ['--recipe', 'frozen-lake-grpo', '--updates', '100', ...LAKE_GROUPS, ...set(STALE)],
    with: set({
      'loss.rolloutCorrection': { proximal: 'recomputed', importance: { level: 'token', cap: 2 } },
    }),
    without: set({ 'loss.rolloutCorrection': { proximal: 'recomputed' } }),
    judged: 'training',
  },
  {
    name: 'dapo-filter',
    what: 'DAPO with groups of equal rewards replaced over DAPO with them kept, on random lakes',
    args: ['--recipe', 'frozen-lake-grpo', '--algorithm', 'dapo', '--updates', '60', ...LAKE_GROUPS],
    with: [],
    without: set({ 'sampler.zeroVariance': 'keep' }),
    judged: 'test',
  },
  {
    name: 'critic-learning-rate',
    what: 'PPO with a learning rate of its own for the critic (3e-3) over one for both (3e-4), on random lakes',
    args: [
      ...['--recipe', 'frozen-lake-ppo', '--updates', '100', ...LAKE],
      ...set({ 'optimizer.learningRate': 3e-4 }),
    ],
    with: set({ 'optimizer.criticLearningRate': 3e-3 }),
    without: [],
    judged: 'training',
  },
  {
    name: 'critic',
    what: 'PPO with a critic over REINFORCE++, which has none, on random lakes with the same discount',
    args: ['--recipe', 'frozen-lake-ppo', '--updates', '100', ...LAKE],
    with: [],
    without: ['--algorithm', 'reinforce++', ...set({ 'advantage.options': { gamma: 0.95 } })],
    judged: 'training',
  },
  {
    name: 'critic-maze',
    what: 'PPO with a critic over REINFORCE++, which has none, on the maze of up to 50 moves, with the same discount',
    args: MAZE_PPO,
    with: [],
    without: ['--algorithm', 'reinforce++', ...set({ 'advantage.options': { gamma: 0.95 } })],
    judged: 'training',
  },
  {
    name: 'critic-learning-rate-maze',
    what: 'PPO with a learning rate of its own for the critic (3e-3) over one for both (3e-4), on the maze of up to 50 moves',
    args: [...MAZE_PPO, ...set({ 'optimizer.learningRate': 3e-4 })],
    with: set({ 'optimizer.criticLearningRate': 3e-3 }),
    without: [],
    judged: 'training',
  },
  {
    name: 'critic-learning-rate-one-step',
    what: 'Actor-critic with one-step advantages (λ 0) and ten times the learning rate for its critic (3e-3), which has a transformer of its own, over one for both (3e-4), on random lakes',
    args: [
      ...['--recipe', 'frozen-lake-ppo', '--updates', '100', ...LAKE],
      ...set({
        ...{ 'optimizer.learningRate': 3e-4, 'model.valueTrunk': 'own' },
        // All that is known of the future is the critic's; Konda and Tsitsiklis (2000) let it learn on the faster of two time scales.
        ...{ 'advantage.options': { gamma: 0.95, lambda: 0, whiten: true } },
      }),
    ],
    with: set({ 'optimizer.criticLearningRate': 3e-3 }),
    without: [],
    judged: 'training',
  },
];
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seeds: { type: 'string', default: '1,2,3,4,5,6,7,8' },
  },
});
const seeds = values.seeds.split(',');
const parts = [];
let figures = [];

function report(name, value) {
  figures.push({ name, value });
  console.log(`${name}: ${value}`);
}

const round = (value) => Number(value.toFixed(4));
const MEASURED = {
  training: 'success of the training episodes',
  test: 'greedy success on test tasks',
};

/** @returns {{ training: number, test: number, staleness: number, numEpisodes: number }} figures of one run */
function train(args, seed) {
  const directory = makeDataDirectory();
  const at = ['--data-dir', directory.path];
  try {
    const { runId, metrics } = JSON.parse(
      runRetrace([
        ...['train', ...args, '--seed', seed],
        ...[...set({ 'evaluation.everyUpdates': 0, 'evaluation.numTestEpisodes': 1000 }), '--json', ...at],
      ]),
    );
    const [{ training, numEpisodes }] = ask(
      `SELECT avg(success) AS training, count() AS numEpisodes FROM episodes WHERE run_id = '${runId}' AND split = 'train'`,
      at,
    );
    const [{ staleness }] = ask(
      `SELECT avg(value) AS staleness FROM metrics WHERE run_id = '${runId}' AND name = 'train/stalenessMax'`,
      at,
    );
    return {
      training: Number(training),
      test: metrics['test/success'],
      staleness: Number(staleness),
      numEpisodes: Number(numEpisodes),
    };
  } finally {
    directory.remove();
  }
}

const ask = (sql, at) => JSON.parse(runRetrace(['sql', sql, '--format', 'json', ...at]));

function measure({ name, what, args, judged, ...arms }) {
  const startedAt = new Date();
  figures = [];
  const pairs = seeds.map((seed) => {
    const pair = {
      with: train([...args, ...arms.with], seed),
      without: train([...args, ...arms.without], seed),
    };
    for (const [arm, { training, test, staleness, numEpisodes }] of Object.entries(pair)) {
      report(
        `seed ${seed}, ${arm}`,
        `training ${round(training)}, test ${round(test)}; ${numEpisodes} episodes, at most ${round(staleness)} versions old`,
      );
    }
    return pair;
  });
  let passed = false;
  for (const [figure, title] of Object.entries(MEASURED)) {
    const { mean, low, high } = comparePairs(pairs.map((pair) => pair.with[figure] - pair.without[figure]));
    const isJudged = figure === judged;
    if (isJudged) passed = low > 0;
    const numBetter = pairs.filter((pair) => pair.with[figure] > pair.without[figure]).length;
    report(
      `${title}, with − without${isJudged ? ' (interval above 0)' : ''}`,
      `${round(mean)} (${round(low)} … ${round(high)}), better on ${numBetter} of ${pairs.length} seeds`,
    );
  }
  parts.push({
    ...{ name, passed, startedAt: startedAt.toISOString(), figures },
    options: `--only ${name} --seeds ${values.seeds}`,
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    title: `${what}: ${seeds.length} seeds in pairs`,
  });
  if (process.env.RETRACE_RESULT_FILE)
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ parts }));
}

for (const comparison of comparisons)
  if (values.only?.includes(comparison.name) !== false) measure(comparison);
process.exitCode = parts.every((part) => part.passed) ? 0 : 1;
