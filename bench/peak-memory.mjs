/**
 * Prints the peak memory of one process that trains, as JSON. `test/long/memory-estimate.mjs` runs one process per shape, because a
 * process can't reset its peak.
 */
import { rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadHuggingFaceModel, PolicyOptimizer, Transformer } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { writeRandomModel } from './random-model.mjs';

const {
  config,
  huggingFace,
  lora,
  numSequences,
  sequenceTokens,
  maxTokensPerMicroBatch,
  policyLoss,
  recomputeLayers = false,
} = JSON.parse(process.argv[2]);

await openBackend();
const baseline = process.memoryUsage().rss;
const model = config ? Transformer.initialize(config, 1) : await loadRandom();
const optimizer = new PolicyOptimizer(model, { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 });
const numTokens = numSequences * sequenceTokens;
const column = (value) => new Float32Array(numTokens).fill(value);
const batch = {
  tokenIds: Int32Array.from({ length: numTokens }, (_, n) => (n * 7919) % model.config.vocabSize),
  sequenceOffsets: Int32Array.from({ length: numSequences + 1 }, (_, s) => s * sequenceTokens),
  lossWeights: Float32Array.from({ length: numTokens }, (_, n) =>
    n % sequenceTokens === 0 ? 0 : 1 / numTokens,
  ),
  advantages: column(0.5),
  proximalLogprobs: column(-Math.log(model.config.vocabSize)),
  referenceLogprobs: null,
  returns: column(0.5),
  proximalValues: null,
};
const options = {
  policyLoss,
  policyLossOptions: {},
  valueCoefficient: model.config.valueHead ? 0.5 : 0,
  valueClip: null,
  entropyCoefficient: 0.01,
  klCoefficient: 0,
  klEstimator: 'k3',
  temperature: 1,
  maxTokensPerMicroBatch,
  recomputeLayers,
};
for (let step = 0; step < 3; step++) {
  await optimizer.accumulate(batch, options);
  await optimizer.apply({ learningRate: 1e-3, maxGradientNorm: 1 });
}
console.log(
  JSON.stringify({
    peakBytes: process.resourceUsage().maxRSS * 1024,
    baselineBytes: baseline,
    numParameters: model.numParameters,
    numTrained: model.numTrainedParameters,
  }),
);

async function loadRandom() {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-peak-memory-'));
  try {
    writeRandomModel(directory, huggingFace);
    return await loadHuggingFaceModel(directory, { valueHead: false, maxPositions: 1024, seed: 1, lora });
  } finally {
    rmSync(directory, { recursive: true });
  }
}
