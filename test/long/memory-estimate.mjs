/**
 * Checks that predicted peak memory is within 20 % of measured: for training and generation of several shapes, each in its own process, and for the
 * trainer and the collector of built-in recipes in a run.
 *
 *   npm run test:long -- memory-estimate [-- --half-billion]
 *
 * `--half-billion` adds adapters on the shape of Qwen2.5-0.5B, which takes 10 GiB and minutes.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { resolveRecipe } from '@retrace/config';
import { estimateGenerationMemory, estimateTrainingMemory, parseHuggingFaceConfig } from '@retrace/policy';
import { estimateRecipeMemory } from '../../apps/cli/dist/commands/doctor/recipe-memory.js';
import { qwenHalfBillion } from '../../bench/random-model.mjs';
import { makeDataDirectory, root, startRetrace } from '../support/cli.mjs';

const { values } = parseArgs({ options: { 'half-billion': { type: 'boolean', default: false } } });
const ALLOWED = 0.2;
const MEBIBYTE = 2 ** 20;
const targets = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
const lora = { rank: 16, alpha: 32, targets };

const qwenLike = (change = {}) => ({
  vocabSize: 8192,
  hiddenSize: 256,
  numLayers: 4,
  numHeads: 4,
  numKeyValueHeads: 2,
  headDim: 64,
  intermediateSize: 1024,
  ropeTheta: 1e4,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  attentionBias: false,
  maxPositions: 2048,
  valueHead: false,
  ...change,
});
const tiny = {
  vocabSize: 43,
  hiddenSize: 64,
  numLayers: 2,
  headDim: 16,
  intermediateSize: 176,
  valueHead: true,
};
/** The cases: name, shape, sequences × tokens, cells of a pass. */
const shapes = [
  ['4 layers × 256, 8 × 256 tokens', { config: qwenLike() }, 8, 256, 2048],
  ['the same in two passes', { config: qwenLike() }, 8, 256, 1024],
  ['the same, 2 × 1,024 tokens', { config: qwenLike() }, 2, 1024, 2048],
  ['the same, 16 × 256 tokens', { config: qwenLike() }, 16, 256, 4096],
  ['8 layers, recomputed', { config: qwenLike({ numLayers: 8 }), recomputeLayers: true }, 8, 256, 2048],
  ['8 layers', { config: qwenLike({ numLayers: 8 }) }, 8, 256, 2048],
  ['vocabulary of 32,768', { config: qwenLike({ vocabSize: 32_768 }) }, 8, 256, 2048],
  [
    '4 layers × 512',
    { config: qwenLike({ hiddenSize: 512, numHeads: 8, intermediateSize: 2048 }) },
    8,
    256,
    2048,
  ],
  ['adapters on 4 layers × 256', { config: qwenLike({ lora }) }, 8, 256, 2048],
  ['the model of frozen-lake-ppo, 256 × 20 tokens', { config: qwenLike(tiny) }, 256, 20, 16_384],
  ...(values['half-billion']
    ? [['adapters on 0.5 billion, 4 × 256 tokens', { huggingFace: qwenHalfBillion, lora }, 4, 256, 512]]
    : []),
];

const figures = [];
let passed = true;

function compare(name, measuredBytes, predictedBytes) {
  const error = predictedBytes / measuredBytes - 1;
  const isClose = Math.abs(error) <= ALLOWED;
  if (!isClose) passed = false;
  console.log(
    `${name}: ${(measuredBytes / MEBIBYTE).toFixed(0)} MiB measured, ${(predictedBytes / MEBIBYTE).toFixed(0)} predicted, ${(100 * error).toFixed(0)} %${isClose ? '' : '  TOO FAR'}`,
  );
  figures.push({ name: `${name}: measured`, value: measuredBytes / MEBIBYTE, unit: 'MiB' });
  figures.push({ name: `${name}: predicted`, value: predictedBytes / MEBIBYTE, unit: 'MiB' });
}

for (const [name, model, numSequences, sequenceTokens, maxTokensPerMicroBatch] of shapes) {
  const shape = { ...model, numSequences, sequenceTokens, maxTokensPerMicroBatch, policyLoss: 'ppo' };
  const output = execFileSync(
    process.execPath,
    [join(root, 'bench', 'peak-memory.mjs'), JSON.stringify(shape)],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const config =
    model.config ??
    parseHuggingFaceConfig(model.huggingFace, { maxPositions: 1024, valueHead: false, lora: model.lora });
  const { totalBytes } = estimateTrainingMemory(config, {
    passTokens: Math.min(maxTokensPerMicroBatch, numSequences * sequenceTokens),
    recomputesLayers: model.recomputeLayers,
    accumulates: numSequences * sequenceTokens > maxTokensPerMicroBatch,
  });
  compare(name, JSON.parse(output).peakBytes, totalBytes);
}

const wide = qwenLike({ vocabSize: 64, hiddenSize: 768, numLayers: 8, numHeads: 12, numKeyValueHeads: 4 });
/** Generation: name, shape, slots, tokens of a prompt, tokens of a turn. */
const generations = [
  ['generation, 4 layers × 256, 16 × 128 tokens', qwenLike(), 16, 128, 8],
  ['generation, turns of one token, 64 × 128 tokens', qwenLike(), 64, 128, 1],
  ['generation, turns of one token in three passes', qwenLike(), 192, 128, 1],
  ['generation with adapters, 16 × 128 tokens', qwenLike({ lora }), 16, 128, 8],
  [
    'generation, 8 layers × 768, turns of one token, 16 × 128 tokens',
    { ...wide, intermediateSize: 3072 },
    16,
    128,
    1,
  ],
  ['generation, 8 layers × 768, 16 × 128 tokens', { ...wide, intermediateSize: 3072 }, 16, 128, 4],
];
for (const [name, config, maxSlots, promptTokens, maxNewTokens] of generations) {
  const options = { maxSlots, maxTokens: promptTokens + maxNewTokens, maxNewTokens };
  const output = execFileSync(
    process.execPath,
    [join(root, 'bench', 'peak-memory-of-generation.mjs'), JSON.stringify({ config, promptTokens, options })],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  compare(name, JSON.parse(output).peakBytes, estimateGenerationMemory(config, options).totalBytes);
}

/** Predictions are made for each role, so each is a process of its own. */
const APART = 'process.colocate=false';
// Limits passes to a size that the episodes fill, because a prediction is for the largest pass that the recipe allows.
const fullPasses = ['optimizer.maxTokensPerMicroBatch=2048', APART];
/** A model whose reference policy is a tenth of the trainer, in passes that the episodes fill. */
const large = [
  ...[
    'hiddenSize=768',
    'numLayers=8',
    'numHeads=12',
    'numKeyValueHeads=4',
    'headDim=64',
    'intermediateSize=3072',
  ].map((field) => `model.${field}`),
  ...['optimizer.maxTokensPerMicroBatch=256', 'optimizer.recomputeLayers=true', 'loss.kl.coefficient=0.01'],
  ...['collection.groupsPerRound=2', 'evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=2', APART],
];
const all = ['trainer', 'collector', 'store and API'];
/** Runs: name, recipe, updates, assignments, roles whose passes are as large as the recipe allows. */
const runs = [
  ['frozen-lake-ppo', 'frozen-lake-ppo', 40, fullPasses, all],
  ['memory-bandit-grpo', 'memory-bandit-grpo', 40, fullPasses, all],
  ['8 layers × 768, recomputed, with a reference policy', 'memory-bandit-grpo', 2, large, ['trainer']],
];
for (const [name, recipe, numUpdates, assignments, compared] of runs) {
  const directory = makeDataDirectory();
  const session = startRetrace([
    'train',
    '--recipe',
    recipe,
    '--updates',
    `${numUpdates}`,
    ...assignments.flatMap((assignment) => ['--set', assignment]),
    '--data-dir',
    directory.path,
  ]);
  const peaks = {};
  let isRunning = true;
  void session.ended.then(() => (isRunning = false));
  while (isRunning) {
    for (const [role, pid] of Object.entries(session.roles())) {
      peaks[role] = Math.max(peaks[role] ?? 0, peakBytesOf(pid));
    }
    await sleep(250);
  }
  directory.remove();
  const { roles } = await estimateRecipeMemory(resolveRecipe(recipe, { assignments }));
  for (const { role, estimate } of roles.filter((one) => compared.includes(one.role))) {
    const measured = role === 'store and API' ? peaks.store + peaks.sink : peaks[role];
    compare(`${name}: ${role}`, measured, estimate.totalBytes);
  }
}

if (process.env.RETRACE_RESULT_FILE) {
  const title = 'Peak memory, predicted and measured';
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
process.exitCode = passed ? 0 : 1;

/** Returns 0 once the process has exited. */
function peakBytesOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
