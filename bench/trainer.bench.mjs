/**
 * Measures what the trainer adds to a model: the share of an update that is not its forward and backward passes, and how many tokens a
 * second drawing, scoring, advantages and mini-batches take when the model costs nothing.
 *
 *   npm run bench -- trainer [-- --updates 5]
 */
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { openBackend } from '@retrace/compute';
import { matrixProducts, resolveRecipe } from '@retrace/config';
import { Pcg32 } from '@retrace/random';
import { RewardScorer } from '@retrace/rewards/scoring';
import { computeUpdate } from '@retrace/trainer';
import { RowRecord } from '@retrace/trajectory';
import { StoredGroups } from '../apps/trainer/dist/plan/stored-groups.js';
import { StoredSampler } from '../apps/trainer/dist/plan/stored-sampler.js';
import { FigureTable } from './figure-table.mjs';
import { InMemoryLoop } from './in-memory-loop.mjs';

const { values } = parseArgs({ options: { updates: { type: 'string', default: '5' } } });
const NUM_UPDATES = Number(values.updates);

/** Of the parts of an update that the model computes. */
const MODEL_CALLS = ['evaluate', 'evaluateEnds', 'evaluateReference', 'accumulate'];

/** Adds the time of the engine's calls to `times`, by name. */
function timeCalls(engine, names, times) {
  for (const name of names) {
    const call = engine[name].bind(engine);
    engine[name] = async (...args) => {
      const startedAt = performance.now();
      try {
        return await call(...args);
      } finally {
        times[name] = (times[name] ?? 0) + performance.now() - startedAt;
      }
    };
  }
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** Updates of a model of 6 M parameters, on episodes that it played. */
async function measureShare(table) {
  const recipe = resolveRecipe('frozen-lake-ppo', {
    assignments: [
      ...['model.numLayers=8', 'model.hiddenSize=256', 'model.numHeads=8', 'model.numKeyValueHeads=8'],
      ...['model.headDim=32', 'model.intermediateSize=688'],
      ...['collection.groupsPerRound=64', 'collection.concurrentEpisodes=64', 'optimizer.epochs=1'],
    ],
  });
  await openBackend(matrixProducts(recipe));
  const loop = new InMemoryLoop(recipe);
  const { groupsPerRound: numGroups, groupSize } = recipe.collection;
  const { columns } = await loop.play({ numGroups, groupSize, round: 0 });
  // TensorFlow's one-time set-up.
  await loop.update(columns, 1);
  const recorded = await measureUpdateTokens(loop, columns);
  const times = {};
  timeCalls(loop.engine, [...MODEL_CALLS, 'step'], times);
  const startedAt = performance.now();
  for (let n = 0; n < NUM_UPDATES; n++) await loop.update(columns, n + 2);
  const totalMs = performance.now() - startedAt;
  const modelMs = sum(MODEL_CALLS.map((name) => times[name] ?? 0));
  table.add('parameters', loop.engine.numTrainedValues / 1e6, 'M');
  table.add('tokens of an update', columns.tokenIds.length, '');
  table.add('an update', totalMs / NUM_UPDATES, 'ms');
  table.add('… not forward or backward', (100 * (totalMs - modelMs)) / totalMs, '%', { most: 10 });
  table.add('… of these the optimizer', (100 * times.step) / totalMs, '%');
  table.add(
    '… drawing, scoring, advantages, mini-batches',
    (100 * (totalMs - modelMs - times.step)) / totalMs,
    '%',
  );
  table.add('… with `updateTokens`, as a multiple', recorded, '×');
}

/** Time of updates that say what was done with each token, over that of updates that do not; they take turns. */
async function measureUpdateTokens(loop, columns) {
  const { recipe } = loop;
  const totalMs = { without: 0, with: 0 };
  for (let n = 0; n < 2 * NUM_UPDATES; n++) {
    const updateTokens = n % 2 === 1;
    loop.recipe = { ...recipe, updateTokens };
    const startedAt = performance.now();
    await loop.update(columns, 1);
    totalMs[updateTokens ? 'with' : 'without'] += performance.now() - startedAt;
  }
  loop.recipe = recipe;
  return totalMs.with / totalMs.without;
}

const NUM_EPISODES = 4096;
const NUM_STEPS = 8;
const OBSERVATION = 24;
const ACTION = 8;
const GROUP_SIZE = 8;
/** From which the groups of the batch are drawn. */
const NUM_STORED = 100_000;

/** @param {number} n */
const idOf = (n) => `01920000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

/** A million tokens as the store's reader gives them. */
function makeColumns() {
  const random = new Pcg32(3);
  const numSteps = NUM_EPISODES * NUM_STEPS;
  const perStep = OBSERVATION + ACTION;
  const every = (length, of) => Array.from({ length }, (_, n) => of(n));
  const offsets = (count, each) => Int32Array.from({ length: count + 1 }, (_, n) => n * each);
  const numTokens = numSteps * perStep;
  const isAction = (n) => Number(n % perStep >= OBSERVATION);
  return {
    episodeIds: every(NUM_EPISODES, idOf),
    groupIds: every(NUM_EPISODES, (e) => idOf(Math.floor(e / GROUP_SIZE))),
    endReasons: new Uint8Array(NUM_EPISODES),
    successes: Int8Array.from({ length: NUM_EPISODES }, () => random.nextBelow(2)),
    stepOffsets: offsets(NUM_EPISODES, NUM_STEPS),
    steps: Int32Array.from({ length: numSteps }, (_, s) => s % NUM_STEPS),
    rewards: Float64Array.from({ length: numSteps }, () => random.nextFloat()),
    anchors: every(numSteps, () => `state ${random.nextBelow(64)}`),
    actionValid: new Uint8Array(numSteps).fill(1),
    keptPrefixTokens: Int32Array.from({ length: numSteps }, (_, s) => (s % NUM_STEPS) * perStep),
    temperatures: new Float32Array(numSteps).fill(1),
    greedy: new Uint8Array(numSteps),
    tokenOffsets: offsets(numSteps, perStep),
    tokenIds: Int32Array.from({ length: numTokens }, () => random.nextBelow(1000)),
    actionMask: Uint8Array.from({ length: numTokens }, (_, n) => isAction(n)),
    tokenLogprobs: Float32Array.from({ length: numTokens }, (_, n) => isAction(n) * -0.5),
    tokenPolicyVersions: new Int32Array(numTokens),
    finalTokenOffsets: new Int32Array(NUM_EPISODES + 1),
    finalTokenIds: new Int32Array(0),
    finalKeptPrefixTokens: new Int32Array(NUM_EPISODES).fill(NUM_STEPS * perStep),
  };
}

/** An engine whose model costs nothing: all tokens have the logprob that they were sampled with. */
function freeEngine(numTokens) {
  const evaluated = {
    logprobs: new Float32Array(numTokens).fill(-0.5),
    entropies: new Float32Array(numTokens),
    values: new Float32Array(numTokens),
    sumSquaredProbabilities: null,
  };
  const terms = { numTokens: 1, loss: 0, policyLoss: 0, valueLoss: 0, entropy: 0, kl: 0 };
  const ratios = { clipFraction: 0, approximateKl: 0, ratioMaxDeviation: 0 };
  return {
    modelHash: 'free',
    ratioTolerance: 1e-4,
    evaluate: async () => evaluated,
    evaluateEnds: async ({ sequenceOffsets }) => new Float32Array(sequenceOffsets.length - 1),
    accumulate: async () => ({ ...terms, ...ratios }),
    step: async () => ({ isApplied: true, gradientNorm: 1, criticGradientNorm: null }),
    discard: async () => undefined,
  };
}

function storedSampler() {
  const ids = Array.from({ length: NUM_STORED }, (_, n) => idOf(n));
  const groups = new StoredGroups({
    runIds: new Array(NUM_STORED).fill(idOf(0)),
    groupIds: ids,
    episodeIds: ids,
    numSteps: new Int32Array(NUM_STORED).fill(NUM_STEPS),
    successes: new Int8Array(NUM_STORED),
    families: new Float64Array(NUM_STORED),
    priorities: null,
  });
  return new StoredSampler({ source: 0, groups, record: new RowRecord(), sampler: { rule: 'prioritized' } });
}

/** Everything but the model, for each estimator. */
async function measureRate(table) {
  const columns = makeColumns();
  const engine = freeEngine(columns.tokenIds.length);
  const sampler = storedSampler();
  const random = new Pcg32(5);
  const draw = () => sampler.draw(NUM_EPISODES / GROUP_SIZE, () => random.nextFloat(), new Set());
  draw();
  for (const [name, estimator, recipeName] of [
    ['PPO with GAE', 'gae', 'frozen-lake-ppo'],
    ['GRPO', 'grpo', 'frozen-lake-grpo'],
    ['GiGPO', 'gigpo', 'frozen-lake-grpo'],
  ]) {
    const recipe = resolveRecipe(recipeName, {
      assignments: [
        `advantage=${JSON.stringify({ estimator, options: {}, shuffle: false })}`,
        ...['optimizer.epochs=1', 'optimizer.miniBatchActionTokens=65536'],
      ],
    });
    const rewards = new RewardScorer(recipe.reward);
    const plan = {
      ...{ stage: 'policy', updateNumber: 1, policyVersionIn: 0, seed: 1 },
      ...{
        groupIds: [...new Set(columns.groupIds)],
        groupRuns: null,
        episodeGroups: null,
        groupWeights: null,
      },
    };
    const times = [];
    for (let n = 0; n < NUM_UPDATES + 1; n++) {
      const startedAt = performance.now();
      draw();
      await computeUpdate({
        ...{ plan, columns, texts: null, recipe, rewards, engine },
        ...{ reference: null, recordedRewards: null, trainerState: null },
      });
      if (n > 0) times.push(performance.now() - startedAt);
    }
    const numTokens = columns.tokenIds.length;
    const best = numTokens / Math.min(...times) / 1000;
    table.add(
      `${name}: draw, score, advantages, mini-batches`,
      numTokens / (sum(times) / times.length) / 1000,
      'M tokens/s',
      {
        least: 5,
      },
    );
    table.add('… fastest', best, 'M tokens/s');
  }
}

const table = new FigureTable('The trainer beside its model');
await measureShare(table);
await measureRate(table);
table.save(
  `Forward and backward are the engine's calls, with packing and the loss. The second part makes whole updates of ${NUM_EPISODES} episodes of ${NUM_STEPS} steps with a model that costs nothing.`,
);
