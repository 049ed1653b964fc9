/**
 * The mathematics over flat ragged arrays: 2,048 sequences of up to 512 tokens. GAE against the same recursion over padded
 * rows with a mask, what the checks at the boundary cost, linearity up to 50 million tokens, what calls leave behind, and, where
 * RETRACE_PEER_PYTHON names a Python with verl and torch (`bench/peers/set-up.sh <directory>` makes one), against verl,
 * OpenRLHF's GAE and GiGPO in numpy.
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
  offsetsOf,
  opo,
  rloo,
  rowLengths,
  rowSums,
} from '@retrace/algorithms';
import { uncheckedGae, uncheckedPpo } from './unchecked-algorithms.mjs';

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
 * Shortest of `repeats` runs, milliseconds, after `warmUps`: what else runs on the machine only adds to it. A loop of half a
 * million turns is in its final machine code only after some dozens of calls, which a training run makes in its first minute.
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

/** A generator that is good enough for inputs: the recurrence of Numerical Recipes. */
function makeRandom(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

function makeBatch(numSequences) {
  const random = makeRandom(7);
  const lengths = Int32Array.from({ length: numSequences }, () => 1 + Math.floor(random() * MAX_LENGTH));
  const offsets = offsetsOf(lengths);
  const numTokens = offsets[numSequences];
  const column = (of) => Float32Array.from({ length: numTokens }, of);
  const rewards = new Float32Array(numTokens);
  for (let s = 0; s < numSequences; s++) rewards[offsets[s + 1] - 1] = random() < 0.5 ? 1 : 0;
  const logprobs = column(() => -3 * random());
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

/** What GAE and PPO read, and no more, of about so many tokens: PPO takes the values for logprobs. */
function makeLargeBatch(numTokens) {
  const random = makeRandom(11);
  const numSequences = Math.round((2 * numTokens) / (MAX_LENGTH + 1));
  const offsets = offsetsOf(
    Int32Array.from({ length: numSequences }, () => 1 + Math.floor(random() * MAX_LENGTH)),
  );
  const rewards = new Float32Array(offsets[numSequences]);
  const values = rewards.map(() => random() - 0.5);
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

/** Growth of heap and buffers by calls whose results are dropped, after collecting garbage. */
function bytesHeldPerCall(run, calls = 200) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const held = () => {
    // Buffers go with the collection after the one that drops their arrays.
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
    episodeSteps: offsetsOf(numSteps),
    stepOffsets: offsetsOf(stepLengths),
    anchors: Int32Array.from(stepLengths, () => Math.floor(random() * NUM_STATES)),
  };
}

/** GAE over rows of equal width with a mask, as padded code does it: time outside, rows inside. */
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
const unchecked = {
  gae: shortestMs(() => uncheckedGae({ ...batch, gamma: GAMMA, lambda: LAMBDA })),
  ppo: shortestMs(() => uncheckedPpo({ ...batch, weights, clipLow: 0.2, clipHigh: 0.2, dualClip: 3 })),
};
for (const [name, value] of Object.entries(unchecked)) {
  report(`${name}: share of the checks`, 100 * Math.max(0, 1 - value / ours[name]), '%');
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
  if (name === 'grpo, verl vectorised')
    report(`${name}: ours on every token is faster by`, value / ours['grpo on every token'], '×');
}

// Half a million tokens lie in the processor's caches, five and fifty million do not.
const nanosecondsPerToken = (run, input, repeats) =>
  (1e6 * shortestMs(() => run(input), { repeats, warmUps: 2 })) / input.rewards.length;
const [medium, large] = [makeLargeBatch(MEDIUM_TOKENS), makeLargeBatch(LARGE_TOKENS)];
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
  const title = `Advantages and losses over ${String(NUM_SEQUENCES)} ragged sequences`;
  writeFileSync(resultFile, JSON.stringify({ title, figures }));
}
