/**
 * Measures a model directory with the shape of Qwen2.5-0.5B and random weights: time and peak memory of loading it, of generating
 * with it, and of one step of training adapters on it.
 *
 *   npm run bench -- half-billion
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Generator, loadHuggingFaceModel, PolicyOptimizer } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { qwenHalfBillion, writeRandomModel } from './random-model.mjs';
import { timed } from './timing.mjs';

const NUM_PROMPTS = 4;
const PROMPT_TOKENS = 64;
const NEW_TOKENS = 16;
const TRAINED_SEQUENCES = 4;
const TRAINED_TOKENS = 256;
const lora = {
  rank: 16,
  alpha: 32,
  targets: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
};

const figures = [];
const backend = await openBackend();
console.log(backend.reason);
const directory = mkdtempSync(join(tmpdir(), 'retrace-half-billion-'));
try {
  const fileBytes = writeRandomModel(directory, qwenHalfBillion);
  report('weights on disk', fileBytes / 2 ** 30, 'GiB');
  const model = await measured('load', () =>
    loadHuggingFaceModel(directory, { valueHead: false, maxPositions: 1024, seed: 1, lora }),
  );
  report('parameters', model.numParameters / 1e6, 'million');
  await generate(model);
  await train(model);
} finally {
  rmSync(directory, { recursive: true });
}
if (process.env.RETRACE_RESULT_FILE) {
  const title = 'A model of half a billion parameters';
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}

async function generate(model) {
  const maxTokens = PROMPT_TOKENS + NEW_TOKENS;
  const generator = new Generator(model, { maxSlots: NUM_PROMPTS, maxTokens, maxNewTokens: NEW_TOKENS });
  for (let slot = 0; slot < NUM_PROMPTS; slot++) {
    generator.add({
      slot,
      keptPrefixTokens: 0,
      tokenIds: tokens(PROMPT_TOKENS, slot),
      temperature: 1,
      greedy: false,
      maxNewTokens: NEW_TOKENS,
      stopTokenIds: [],
      samplingSeed: slot,
    });
  }
  await measured(`prompts of ${NUM_PROMPTS} × ${PROMPT_TOKENS} tokens`, () => generator.step());
  const tookMs = await timed(async () => {
    while (generator.numPending > 0) await generator.step();
  });
  report('generated tokens', (1000 * NUM_PROMPTS * (NEW_TOKENS - 1)) / tookMs, '/s');
  generator.dispose();
}

async function train(model) {
  const optimizer = new PolicyOptimizer(model, { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 });
  const numTokens = TRAINED_SEQUENCES * TRAINED_TOKENS;
  const sequenceOffsets = Int32Array.from({ length: TRAINED_SEQUENCES + 1 }, (_, s) => s * TRAINED_TOKENS);
  const starts = new Set(sequenceOffsets);
  const batch = {
    tokenIds: tokens(numTokens, 9),
    sequenceOffsets,
    lossWeights: Float32Array.from({ length: numTokens }, (_, n) => (starts.has(n) ? 0 : 1 / numTokens)),
    advantages: null,
    proximalLogprobs: null,
    referenceLogprobs: null,
    returns: null,
    proximalValues: null,
  };
  const options = {
    policyLoss: 'crossEntropy',
    policyLossOptions: {},
    valueCoefficient: 0,
    valueClip: null,
    entropyCoefficient: 0.01,
    klCoefficient: 0,
    klEstimator: 'k3',
    temperature: 1,
    maxTokensPerMicroBatch: 2 * TRAINED_TOKENS,
  };
  const step = async () => {
    const { loss } = await optimizer.accumulate(batch, options);
    const { gradientNorm } = await optimizer.apply({ learningRate: 1e-3, maxGradientNorm: 1 });
    console.log(`  loss ${loss.toFixed(4)}, gradient norm ${gradientNorm.toExponential(2)}`);
  };
  await measured(`a step of ${TRAINED_SEQUENCES} × ${TRAINED_TOKENS} tokens, the first`, step);
  await measured(`a step of ${TRAINED_SEQUENCES} × ${TRAINED_TOKENS} tokens, the second`, step);
  optimizer.dispose();
}

function tokens(length, seed) {
  return Int32Array.from({ length }, (_, n) => (n * 7919 + seed * 104_729) % qwenHalfBillion.vocab_size);
}

async function measured(name, action) {
  let result;
  const tookMs = await timed(async () => {
    result = await action();
  });
  report(name, tookMs / 1000, 's');
  report(`${name}: peak memory so far`, process.resourceUsage().maxRSS / 2 ** 20, 'GiB');
  return result;
}

function report(name, value, unit) {
  console.log(`${name}: ${value.toFixed(2)} ${unit}`);
  figures.push({ name, value, unit });
}
