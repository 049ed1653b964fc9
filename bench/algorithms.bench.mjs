/**
 * Measures advantages and losses over flat ragged arrays: 2,048 sequences of up to 512 tokens. Compares GAE with the same recursion
 * over padded rows with a mask; measures the cost of the checks at the boundary, linearity up to 50 million tokens, and the memory
 * that calls retain. Where RETRACE_PEER_PYTHON names a Python with verl and torch (`bench/peers/set-up.sh <directory>` makes one), it
 * also compares with verl, OpenRLHF's GAE, and GiGPO in numpy.
 *
 *   npm run bench -- algorithms
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  aggregationWeights,
  computeAdvantages,
  computePolicyLoss,
  countForAggregation,
  gae,
  gigpo,
  grpo,
  toOffsets,
  opo,
  rloo,
  rowLengths,
  rowSums,
} from '@retrace/algorithms';
import { uncheckedGae } from './unchecked-algorithms.mjs';

const NUM_SEQUENCES = 2048;
const MAX_LENGTH = 512;
const GROUP_SIZE = 8;
const STEP_LENGTH = 16;
const NUM_STATES = 64;
const MEDIUM_TOKENS = 5_000_000;
const LARGE_TOKENS = 50_000_000;
const GAMMA = 0.99;
const LAMBDA = 0.95;

/**
 * Returns the shortest of `repeats` runs, milliseconds, after `warmUps`, because other load on the machine only adds time. A loop of
 * half a million turns is fully optimized only after some dozens of calls, which a training run makes in its first minute.
 */
function shortestMs(run, { repeats = 30, warmUps = 60 } = {}) {
  let shortest = Infinity;
  for (let i = 0; i < warmUps + repeats; i++) {
    const start = performance.now();
    run();
    if (i >= warmUps) shortest = Math.min(shortest, performance.now() - start);
  }
  return shortest;
}

/**
 * Returns the cost of the checks at the boundary, percent of the checked run. Both versions run in turn, so other load on the machine
 * affects both; the result is the median of the pairs with its 95 % interval (order statistics of the pairs).
 */
function shareOfChecks(checked, unchecked, { pairs = 400, warmUps = 60 } = {}) {
  const timed = (run) => {
    const start = performance.now();
    run();
    return performance.now() - start;
  };
  const shares = [];
  for (let i = 0; i < warmUps + pairs; i++) {
    const isEven = i % 2 === 0;
    const first = timed(isEven ? checked : unchecked);
    const second = timed(isEven ? unchecked : checked);
    const [withChecks, without] = isEven ? [first, second] : [second, first];
    if (i >= warmUps) shares.push(100 * (1 - without / withChecks));
  }
  shares.sort((a, b) => a - b);
  const at = (rank) => shares[Math.min(pairs - 1, Math.max(0, Math.round(rank)))];
  const half = (1.96 * Math.sqrt(pairs)) / 2;
  return { median: at(pairs / 2), low: at(pairs / 2 - half), high: at(pairs / 2 + half) };
}

/** A random generator for inputs: the recurrence of Numerical Recipes. */
function makeRandom(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

function makeBatch(numSequences) {
  const random = makeRandom(7);
  const lengths = Int32Array.from({ length: numSequences }, () => 1 + Math.floor(random() * MAX_LENGTH));
  const offsets = toOffsets(lengths);
  const numTokens = offsets[numSequences];
  const column = (of) => Float32Array.from({ length: numTokens }, of);
  const rewards = new Float32Array(numTokens);
  for (let s = 0; s < numSequences; s++) rewards[offsets[s + 1] - 1] = random() < 0.5 ? 1 : 0;
  const logprobs = column(() => -0.2 - 3 * random());
  return {
    offsets,
    rewards,
    values: column(() => random() - 0.5),
    logprobs,
    proximalLogprobs: logprobs.map((logprob) => logprob + 0.4 * (random() - 0.5)),
    advantages: column(() => 2 * random() - 1),
    groupIds: Int32Array.from({ length: numSequences }, (_, s) => Math.floor(s / GROUP_SIZE)),
    ...makeSteps(lengths, random),
  };
}

/** Builds only the inputs of GAE and PPO, of about `numTokens` tokens; the values serve as logprobs, too. */
function makeLargeBatch(numTokens) {
  const random = makeRandom(11);
  const numSequences = Math.round((2 * numTokens) / (MAX_LENGTH + 1));
  const offsets = toOffsets(
    Int32Array.from({ length: numSequences }, () => 1 + Math.floor(random() * MAX_LENGTH)),
  );
  const rewards = new Float32Array(offsets[numSequences]);
  const values = rewards.map(() => random() - 1.2);
  for (let s = 0; s < numSequences; s++) rewards[offsets[s + 1] - 1] = random() < 0.5 ? 1 : 0;
  return {
    offsets,
    rewards,
    values,
    groupIds: Int32Array.from({ length: numSequences }, (_, s) => Math.floor(s / GROUP_SIZE)),
    logprobs: values,
    proximalLogprobs: values.map((value) => value + 0.4 * (random() - 0.5)),
    advantages: values.map(() => 2 * random() - 1),
    weights: new Float32Array(rewards.length).fill(1 / rewards.length),
  };
}

/** Measures the growth of heap and buffers after calls whose results are dropped and garbage is collected. */
function bytesHeldPerCall(run, calls = 200) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const held = () => {
    // Buffers are freed by the collection after the one that frees their arrays.
    for (let i = 0; i < 3; i++) collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  run();
  const before = held();
  for (let i = 0; i < calls; i++) run();
  return Math.max(0, held() - before) / calls;
}

/** Steps of 16 action tokens, each in one of 64 states. */
function makeSteps(lengths, random) {
  const stepLengths = [];
  const numSteps = lengths.map((length) => {
    for (let left = length; left > 0; left -= STEP_LENGTH) stepLengths.push(Math.min(left, STEP_LENGTH));
    return Math.ceil(length / STEP_LENGTH);
  });
  return {
    episodeSteps: toOffsets(numSteps),
    stepOffsets: toOffsets(stepLengths),
    anchors: Int32Array.from(stepLengths, () => Math.floor(random() * NUM_STATES)),
  };
}

/** GAE over rows of equal width with a mask, as padded code computes it: time in the outer loop, rows in the inner. */
function paddedGae({ rewards, values, mask, width, numRows }) {
  const advantages = new Float32Array(numRows * width);
  const returns = new Float32Array(numRows * width);
  const nextValues = new Float64Array(numRows);
  const accumulated = new Float64Array(numRows);
  for (let t = width - 1; t >= 0; t--) {
    for (let row = 0; row < numRows; row++) {
      const i = row * width + t;
      const advantage = rewards[i] + GAMMA * nextValues[row] - values[i] + GAMMA * LAMBDA * accumulated[row];
      nextValues[row] = values[i] * mask[i] + (1 - mask[i]) * nextValues[row];
      accumulated[row] = advantage * mask[i] + (1 - mask[i]) * accumulated[row];
      advantages[i] = accumulated[row];
      returns[i] = accumulated[row] + values[i];
    }
  }
  return { advantages, returns };
}

function pad({ offsets, rewards, values }) {
  const numRows = offsets.length - 1;
  const padded = {
    numRows,
    width: MAX_LENGTH,
    rewards: new Float32Array(numRows * MAX_LENGTH),
    values: new Float32Array(numRows * MAX_LENGTH),
    mask: new Float32Array(numRows * MAX_LENGTH),
  };
  for (let row = 0; row < numRows; row++) {
    const [start, end] = [offsets[row], offsets[row + 1]];
    padded.rewards.set(rewards.subarray(start, end), row * MAX_LENGTH);
    padded.values.set(values.subarray(start, end), row * MAX_LENGTH);
    padded.mask.fill(1, row * MAX_LENGTH, row * MAX_LENGTH + end - start);
  }
  return padded;
}

function measurePeer() {
  const python = process.env.RETRACE_PEER_PYTHON;
  if (python === undefined) return null;
  const script = fileURLToPath(new URL('peers/verl_algorithms.py', import.meta.url));
  const output = execFileSync(python, [script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return JSON.parse(output.trim().split('\n').at(-1));
}

const batch = makeBatch(NUM_SEQUENCES);
const numTokens = batch.rewards.length;
const weights = aggregationWeights(batch, { aggregation: 'tokenMean', counts: countForAggregation(batch) });
const lengths = rowLengths(batch.offsets);
const ofEpisodes = ({ rewards, offsets, groupIds }) => ({ returns: rowSums(rewards, offsets), groupIds });

const runs = {
  gae: (input) => gae({ ...input, gamma: GAMMA, lambda: LAMBDA }),
  grpo: (input) => grpo(ofEpisodes(input)),
  rloo: (input) => rloo(ofEpisodes(input)),
  opo: (input) => opo({ ...ofEpisodes(input), lengths }),
  'grpo on every token': (input) => computeAdvantages('grpo', input),
  gigpo: (input) => gigpo(input),
  ppo: (input) => computePolicyLoss('ppo', { weights, ...input }),
};
const figures = [{ name: 'tokens', value: numTokens, unit: '' }];
const report = (name, value, unit) => figures.push({ name, value, unit });

const ours = Object.fromEntries(
  Object.entries(runs).map(([name, run]) => [name, shortestMs(() => run(batch))]),
);
for (const [name, value] of Object.entries(ours)) report(`${name}, ours`, value, 'ms');

const padded = pad(batch);
report(
  'gae over padded rows with a mask',
  shortestMs(() => paddedGae(padded)),
  'ms',
);
const output = { advantages: new Float32Array(numTokens), returns: new Float32Array(numTokens) };
const lossOutput = { tokenLosses: new Float32Array(numTokens), gradients: new Float32Array(numTokens) };
for (const name of ['gae', 'grpo on every token', 'gigpo']) {
  ours[`${name}, into the same arrays`] = shortestMs(() => runs[name]({ ...batch, output }));
}
ours['ppo, into the same arrays'] = shortestMs(() => runs.ppo({ ...batch, output: lossOutput }));
for (const name of ['gae', 'grpo on every token', 'gigpo', 'ppo']) {
  report(`${name}, into the same arrays, ours`, ours[`${name}, into the same arrays`], 'ms');
}
const shares = {
  gae: shareOfChecks(
    () => runs.gae({ ...batch, output }),
    () => uncheckedGae({ ...batch, gamma: GAMMA, lambda: LAMBDA, output }),
  ),
};
for (const [name, { median, low, high }] of Object.entries(shares)) {
  report(`${name}: share of the checks, median of pairs`, median, '%');
  report(`${name}: share of the checks, 95 % interval from`, low, '%');
  report(`${name}: share of the checks, 95 % interval to`, high, '%');
}
for (const name of ['gae', 'grpo', 'gigpo', 'ppo']) {
  report(
    `${name}: bytes held a call after 200 calls`,
    bytesHeldPerCall(() => runs[name](batch)),
    'B',
  );
}

const peer = measurePeer();
for (const [name, value] of Object.entries(peer ?? {})) {
  report(name, value, 'ms');
  const own = name.split(',')[0];
  report(`${name}: ours is faster by`, value / ours[own], '×');
  if (name === 'grpo, verl vectorised') {
    // torch reuses memory that it has freed, so its outputs need no new pages either.
    for (const run of ['grpo on every token', 'grpo on every token, into the same arrays'])
      report(`${name}: ours (${run}) is faster by`, value / ours[run], '×');
  }
  if (name === 'gigpo, numpy')
    report(
      `${name}: ours, into the same arrays, is faster by`,
      value / ours['gigpo, into the same arrays'],
      '×',
    );
}

// Half a million tokens fit into the processor's caches; five and fifty million do not.
const nanosecondsPerToken = (run, input, repeats) =>
  (1e6 * shortestMs(() => run(input), { repeats, warmUps: 2 })) / input.rewards.length;
const [medium, large] = [makeLargeBatch(MEDIUM_TOKENS), makeLargeBatch(LARGE_TOKENS)];
const again = (input) => {
  const array = () => new Float32Array(input.rewards.length);
  return { ...input, output: { advantages: array(), returns: array() } };
};
const [mediumAgain, largeAgain] = [again(medium), again(large)];
report(
  'gae, same arrays: a token of half a million',
  (1e6 * ours['gae, into the same arrays']) / numTokens,
  'ns',
);
report('gae, same arrays: a token of 5 million', nanosecondsPerToken(runs.gae, mediumAgain, 8), 'ns');
report('gae, same arrays: a token of 50 million', nanosecondsPerToken(runs.gae, largeAgain, 3), 'ns');
for (const name of ['gae', 'grpo', 'ppo']) {
  const ofMedium = nanosecondsPerToken(runs[name], medium, 8);
  const ofLarge = nanosecondsPerToken(runs[name], large, 3);
  report(`${name}: a token of half a million`, (1e6 * ours[name]) / numTokens, 'ns');
  report(`${name}: a token of 5 million`, ofMedium, 'ns');
  report(`${name}: a token of 50 million`, ofLarge, 'ns');
}
for (const { name, value, unit } of figures) console.log(`${name.padEnd(64)} ${value.toFixed(2)} ${unit}`);

const { RETRACE_RESULT_FILE: resultFile } = process.env;
if (resultFile !== undefined) {
  const title = `Advantages and losses over ${NUM_SEQUENCES} ragged sequences`;
  writeFileSync(resultFile, JSON.stringify({ title, figures }));
}
