/**
 * Checks that nothing leaks over 10,000 optimizer steps of the policy library. Every step also scores, generates with a cache, swaps
 * the weights of a second model and, now and then, saves and loads a checkpoint. The number of tensors must be the same after each
 * round, and resident memory after the second half at most 5 % or 32 MiB above that after the first fifth.
 *
 *   npm run test:long -- leaks [-- --steps 10000]
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  CheckpointFiles,
  Generator,
  loadPolicyCheckpoint,
  policyCheckpointContent,
  PolicyOptimizer,
  evaluateLogprobs,
  Transformer,
} from '@retrace/policy';
import { countTensors, openBackend } from '@retrace/compute';

const { values } = parseArgs({ options: { steps: { type: 'string', default: '10000' } } });
const numSteps = Number(values.steps);
const stepsPerRound = Math.max(1, numSteps / 100);
const ALLOWED_GROWTH = 0.05;
const ALLOWED_GROWTH_MI_B = 32;

const config = {
  vocabSize: 43,
  hiddenSize: 64,
  numLayers: 2,
  numHeads: 4,
  numKeyValueHeads: 2,
  headDim: 16,
  intermediateSize: 176,
  maxPositions: 64,
  ropeTheta: 1e4,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  attentionBias: false,
  valueHead: true,
};
// Opens the backend as a recipe with this model does.
const { reason } = await openBackend({ largestMatrix: config.hiddenSize * config.intermediateSize });
console.log(reason);
const directory = mkdtempSync(join(tmpdir(), 'retrace-leaks-'));
const checkpoints = new CheckpointFiles(directory);
const model = Transformer.initialize(config, 1);
const follower = Transformer.initialize(config, 2);
const optimizer = new PolicyOptimizer(model, { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01 });
const generator = new Generator(follower, { maxSlots: 4, maxTokens: 32, maxNewTokens: 4 });
const options = {
  policyLoss: 'ppo',
  policyLossOptions: {},
  valueCoefficient: 0.5,
  valueClip: 0.2,
  entropyCoefficient: 0.01,
  klCoefficient: 0.01,
  klEstimator: 'k3',
  temperature: 1,
  maxTokensPerMicroBatch: 64,
};

const rounds = [];
for (let step = 0; step < numSteps; step++) {
  const batch = batchOf(step);
  await optimizer.accumulate(batch, options);
  await optimizer.apply({ learningRate: 1e-4, maxGradientNorm: 1 });
  await evaluateLogprobs(model, batch, { temperature: 1, maxTokensPerMicroBatch: 64 });
  if (step % 10 === 0) await generate(step);
  if (step % stepsPerRound === stepsPerRound - 1) await finishRound();
}

const residentOf = (from, to) => {
  const part = rounds.slice(from * rounds.length, to * rounds.length);
  return part.reduce((sum, { residentMiB }) => sum + residentMiB, 0) / part.length;
};
const [early, late] = [residentOf(0.1, 0.2), residentOf(0.8, 1)];
const counts = new Set(rounds.map(({ numTensors }) => numTensors));
optimizer.dispose();
generator.dispose();
model.dispose();
follower.dispose();
const numLeft = countTensors();
rmSync(directory, { recursive: true });
console.log(
  `${numSteps} steps: ${early.toFixed(0)} → ${late.toFixed(0)} MiB, tensors ${[...counts].join(', ')}, ${numLeft} left`,
);
if (process.env.RETRACE_RESULT_FILE) {
  const figures = [
    { name: 'optimizer steps', value: numSteps },
    { name: 'resident memory after a tenth to a fifth of them', value: early, unit: 'MiB' },
    { name: 'resident memory in the last fifth', value: late, unit: 'MiB' },
    { name: 'different counts of tensors after each hundredth', value: counts.size },
    { name: 'tensors left when everything is disposed', value: numLeft },
  ];
  const title = 'Tensors and memory over optimizer steps';
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
const isFlat = late - early <= Math.max(ALLOWED_GROWTH * early, ALLOWED_GROWTH_MI_B);
process.exitCode = isFlat && counts.size === 1 && numLeft === 0 ? 0 : 1;

async function finishRound() {
  const ref = await checkpoints.write(policyCheckpointContent(model, { tokenizerHash: '', base: null }));
  await loadPolicyCheckpoint(follower, checkpoints, ref);
  await checkpoints.remove(ref.sha256);
  const state = await checkpoints.write(optimizer.stateContent());
  const file = await checkpoints.open(state);
  await optimizer.loadState(file);
  await file.close();
  await checkpoints.remove(state.sha256);
  rounds.push({ numTensors: countTensors(), residentMiB: residentMiB() });
}

async function generate(seed) {
  for (let slot = 0; slot < 4; slot++) {
    generator.add({
      slot,
      keptPrefixTokens: 0,
      tokenIds: Int32Array.from({ length: 5 + slot }, (_, n) => (n * 7 + seed) % config.vocabSize),
      temperature: 1,
      greedy: false,
      maxNewTokens: 4,
      stopTokenIds: [],
      samplingSeed: seed,
    });
  }
  while (generator.numPending > 0) await generator.step();
}

/** Draws sequences of 4 … 19 tokens, different in every step. */
function batchOf(step) {
  const lengths = Array.from({ length: 6 }, (_, s) => 4 + ((step * 5 + s * 7) % 16));
  const sequenceOffsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, s) => (sequenceOffsets[s + 1] = sequenceOffsets[s] + length));
  const numTokens = sequenceOffsets[lengths.length];
  const starts = new Set(sequenceOffsets);
  const column = (of) => Float32Array.from({ length: numTokens }, (_, n) => of(n));
  return {
    tokenIds: Int32Array.from({ length: numTokens }, (_, n) => (n * 11 + step) % config.vocabSize),
    sequenceOffsets,
    lossWeights: column((n) => (starts.has(n) ? 0 : 1 / numTokens)),
    advantages: column((n) => Math.sin(n + step)),
    proximalLogprobs: column(() => -Math.log(config.vocabSize)),
    referenceLogprobs: column(() => -Math.log(config.vocabSize)),
    returns: column((n) => Math.cos(n)),
    proximalValues: column(() => 0),
  };
}

function residentMiB() {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}
