/**
 * Compares training steps with those of transformers on torch: the same weights, the same batch, steps in turn in one run, so other
 * load on the machine affects both. A decoder like Qwen2 with 4 layers, hidden size 256, 4 query and 2 key/value heads, feed-forward 1,024,
 * vocabulary 8,192; 8 × 256 tokens, or ragged sequences of 16 to 512. RETRACE_PEER_PYTHON names a Python with torch and transformers
 * (`bench/peers/set-up.sh <directory>` makes one); without it only our side is measured. `--only <words>` selects jobs by a part of
 * their name, `--steps N` sets how many steps are measured.
 *
 *   npm run bench -- policy-training
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openBackend } from '@retrace/compute';
import { saveHuggingFaceModel, Transformer } from '@retrace/policy';
import { FigureTable } from './figure-table.mjs';
import { StepWorker } from './step-worker.mjs';
import { median } from './timing.mjs';

const { only, steps: numSteps } = parseArgs({
  options: { only: { type: 'string', default: '' }, steps: { type: 'string', default: '5' } },
}).values;
const NUM_THREADS = 2;
const WARM_UPS = 2;
const config = {
  vocabSize: 8192,
  hiddenSize: 256,
  numLayers: 4,
  numHeads: 4,
  numKeyValueHeads: 2,
  headDim: 64,
  intermediateSize: 1024,
  ropeTheta: 1e6,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  attentionBias: true,
  maxPositions: 512,
  valueHead: false,
  initializerStd: 0.02,
};

/** `ours` and `theirs`: settings that differ from the workers' defaults; `most`: the highest acceptable ratio of our time to torch's. */
const jobs = [
  { name: 'CE step', loss: 'crossEntropy', most: 0.8, memory: 1.3 },
  { name: 'PPO step with entropy', loss: 'ppo', most: 0.85, memory: 1.3 },
  {
    name: 'PPO step, bfloat16',
    loss: 'ppo',
    ours: { matMulPrecision: 'bfloat16' },
    bf16: true,
    most: 1,
    memory: 1.3,
  },
  {
    name: 'PPO step, layers recomputed',
    loss: 'ppo',
    ours: { options: { recomputeLayers: true } },
    alone: true,
  },
  { name: 'ragged PPO step, packed', loss: 'ppo', batch: 'ragged', packed: true, memory: 1.3, steps: 3 },
];

const directory = mkdtempSync(join(tmpdir(), 'retrace-training-'));
const figures = new FigureTable('Training steps beside transformers on torch');
/** The library that computes on each side. */
const sides = new Map();
try {
  await writeInputs();
  for (const job of jobs) if (job.name.includes(only)) await compare(job);
  if ('wasm'.includes(only)) await measureWasm();
} finally {
  rmSync(directory, { recursive: true });
}
const computing = [...sides].map(([who, reason]) => `${who}: ${reason.replace(/\.$/, '')}`).join('; ');
figures.save(
  `${cpus()[0].model}, ${NUM_THREADS} threads; times are medians of steps by turns. ${computing}. ` +
    "Products of matrices take about seven tenths of our step, at the speed of TensorFlow's own product; WebAssembly is bound by tfjs's " +
    '(`retrace backend bench wasm` gives its speed).',
);

async function compare({ name, loss, most, memory, packed, ...job }) {
  const { batch = 'even', ours = {}, bf16 = false, alone = false, steps = Number(numSteps) } = job;
  const shared = { directory, batch, loss, numThreads: NUM_THREADS };
  const workers = { ours: new StepWorker(ourCommand({ backend: 'tensorflow', ...shared, ...ours })) };
  if (packed) workers.padded = new StepWorker(ourCommand({ backend: 'tensorflow', ...shared, padded: true }));
  const python = process.env.RETRACE_PEER_PYTHON;
  if (python && !alone) workers.torch = new StepWorker(torchCommand(python, { ...shared, bf16 }));
  const times = await takeSteps(workers, steps);
  const medians = Object.fromEntries(Object.entries(times).map(([who, list]) => [who, median(list)]));
  for (const [who, ms] of Object.entries(medians)) figures.add(`${name}, ${who}`, ms, 'ms');
  if (workers.torch)
    figures.add(`${name}: ours over torch's time`, medians.ours / medians.torch, '', most && { most });
  if (packed)
    figures.add(`${name}: faster than padded by`, medians.padded / medians.ours, '×', { least: 2.5 });
  const peaks = {};
  for (const [who, worker] of Object.entries(workers)) peaks[who] = await worker.end();
  for (const [who, peak] of Object.entries(peaks)) figures.add(`${name}: peak memory, ${who}`, peak, 'MiB');
  if (workers.torch)
    figures.add(
      `${name}: ours over torch's peak memory`,
      peaks.ours / peaks.torch,
      '',
      memory && { most: memory },
    );
}

/** Runs steps in turn. All sides start from the same weights, so their first losses must agree. */
async function takeSteps(workers, numSteps) {
  const times = Object.fromEntries(Object.keys(workers).map((who) => [who, []]));
  const names = Object.keys(workers);
  for (const who of names) sides.set(who, (await workers[who].answer()).reason);
  for (let step = 0; step < WARM_UPS + numSteps; step++) {
    const losses = [];
    for (const who of names) {
      const { ms, loss } = await workers[who].step();
      losses.push(loss);
      if (step >= WARM_UPS) times[who].push(ms);
    }
    if (step === 0 && Math.max(...losses) - Math.min(...losses) > 0.02)
      throw new Error(`The sides compute different losses: ${losses.join(', ')}`);
  }
  return times;
}

/** Counts a multiply-add as two operations, and only the model's matrices, with three products each in a training step. */
async function measureWasm() {
  const worker = new StepWorker(
    ourCommand({ directory, batch: 'short', loss: 'crossEntropy', backend: 'wasm' }),
  );
  await worker.answer();
  const times = [];
  for (let step = 0; step < 3; step++) times.push((await worker.step()).ms);
  await worker.end();
  const qkv = (config.numHeads + 2 * config.numKeyValueHeads) * config.headDim;
  const layer = config.hiddenSize * (qkv + config.numHeads * config.headDim + 3 * config.intermediateSize);
  const numWeights = config.numLayers * layer + config.vocabSize * config.hiddenSize;
  const ms = Math.min(...times);
  figures.add('wasm, CE step of 2 × 256 tokens', ms, 'ms');
  figures.add('wasm: products of matrices', (6 * numWeights * 512) / (ms * 1e6), 'GF/s', { least: 15 });
}

async function writeInputs() {
  await openBackend({ prefer: ['tensorflow', 'wasm'] });
  const model = Transformer.initialize(config, 1);
  rmSync(directory, { recursive: true });
  await saveHuggingFaceModel(directory, model);
  model.dispose();
  const random = makeRandom(3);
  writeBatch('even', new Array(8).fill(256), random);
  writeBatch('short', new Array(2).fill(256), random);
  writeBatch('ragged', raggedLengths(16, random), random);
}

/** Draws lengths from 16 to 512 with a mean of 128: many short ones, few long ones. */
function raggedLengths(count, random) {
  const lengths = Array.from({ length: count }, () => Math.round(16 * (512 / 16) ** (random() ** 1.3)));
  lengths[0] = 512;
  lengths[1] = 16;
  const scale = (128 * count - 528) / lengths.slice(2).reduce((sum, length) => sum + length, 0);
  return lengths.map((length, s) =>
    s < 2 ? length : Math.min(512, Math.max(16, Math.round(length * scale))),
  );
}

function writeBatch(name, lengths, random) {
  const column = (length, draw) => Array.from({ length }, draw);
  const sequences = lengths.map((length) => ({
    tokenIds: column(length, () => Math.floor(random() * config.vocabSize)),
    advantages: column(length, () => 2 * random() - 1),
    proximalLogprobs: column(length, () => -Math.log(config.vocabSize) + 0.2 * (random() - 0.5)),
  }));
  writeFileSync(join(directory, `${name}.json`), JSON.stringify({ sequences }));
}

function ourCommand(job) {
  const worker = fileURLToPath(new URL('training-worker.mjs', import.meta.url));
  return [process.execPath, worker, JSON.stringify(job)];
}

function torchCommand(python, job) {
  const worker = fileURLToPath(new URL('peers/torch_training.py', import.meta.url));
  return [python, worker, JSON.stringify(job)];
}

/** A random generator for inputs: the recurrence of Numerical Recipes. */
function makeRandom(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}
