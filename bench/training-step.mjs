/** Prints the times of a training step on the backend that RETRACE_BACKEND names, as JSON. `gpu.bench.mjs` runs one process per backend. */
import { openBackend } from '@retrace/compute';
import { PolicyOptimizer, Transformer } from '@retrace/policy';

const shapes = [
  {
    shape: '4 layers × 256, 8 × 256 tokens',
    numLayers: 4,
    hiddenSize: 256,
    numSequences: 8,
    sequenceTokens: 256,
  },
  {
    shape: '12 layers × 768, 4 × 512 tokens',
    numLayers: 12,
    hiddenSize: 768,
    numSequences: 4,
    sequenceTokens: 512,
  },
];
const VOCAB_SIZE = 8192;
const NUM_REPETITIONS = 5;

await openBackend();
const results = [];
for (const { shape, numLayers, hiddenSize, numSequences, sequenceTokens } of shapes) {
  const numHeads = hiddenSize / 64;
  const model = Transformer.initialize(
    {
      vocabSize: VOCAB_SIZE,
      hiddenSize,
      numLayers,
      numHeads,
      numKeyValueHeads: numHeads / 2,
      headDim: 64,
      intermediateSize: 4 * hiddenSize,
      ropeTheta: 1e4,
      rmsNormEps: 1e-6,
      tieWordEmbeddings: false,
      attentionBias: false,
      maxPositions: 1024,
      valueHead: false,
    },
    1,
  );
  const optimizer = new PolicyOptimizer(model, { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0 });
  const numTokens = numSequences * sequenceTokens;
  const batch = {
    tokenIds: Int32Array.from({ length: numTokens }, (_, n) => (n * 7919) % VOCAB_SIZE),
    sequenceOffsets: Int32Array.from({ length: numSequences + 1 }, (_, s) => s * sequenceTokens),
    lossWeights: Float32Array.from({ length: numTokens }, (_, n) =>
      n % sequenceTokens === 0 ? 0 : 1 / numTokens,
    ),
    advantages: null,
    proximalLogprobs: null,
    referenceLogprobs: null,
    returns: null,
    proximalValues: null,
  };
  let best = Infinity;
  for (let repetition = 0; repetition < NUM_REPETITIONS; repetition++) {
    const startedAt = performance.now();
    await optimizer.accumulate(batch, {
      policyLoss: 'crossEntropy',
      policyLossOptions: {},
      valueCoefficient: 0,
      valueClip: null,
      entropyCoefficient: 0,
      klCoefficient: 0,
      klEstimator: 'k3',
      temperature: 1,
      maxTokensPerMicroBatch: numTokens,
    });
    // Reading the norm back waits until the computation has finished.
    await optimizer.apply({ learningRate: 1e-4, maxGradientNorm: 1 });
    best = Math.min(best, performance.now() - startedAt);
  }
  results.push({ shape, milliseconds: best, tokensPerSecond: (1000 * numTokens) / best });
  optimizer.dispose();
  model.dispose();
}
console.log(JSON.stringify(results));
