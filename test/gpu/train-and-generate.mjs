import { Generator, openBackend, PolicyOptimizer, scoreTokens, Transformer } from '@retrace/policy';

const config = {
  vocabSize: 512,
  hiddenSize: 128,
  numLayers: 3,
  numHeads: 4,
  numKeyValueHeads: 2,
  headDim: 32,
  intermediateSize: 384,
  maxPositions: 256,
  ropeTheta: 1e4,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  attentionBias: true,
  valueHead: false,
};
const numSequences = 6;
const sequenceTokens = 48;

/**
 * Five optimizer steps from a seed, the logprobs after them, and a greedy continuation, on the backend that is open.
 *
 * @typedef {{ losses: number[], logprobs: number[], greedyTokens: number[] }} Outcome
 * @returns {Promise<Outcome>}
 */
export async function trainAndGenerate() {
  const model = Transformer.initialize(config, 3);
  const optimizer = new PolicyOptimizer(model, { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01 });
  const numTokens = numSequences * sequenceTokens;
  const sequenceOffsets = Int32Array.from({ length: numSequences + 1 }, (_, s) => s * sequenceTokens);
  const starts = new Set(sequenceOffsets);
  const batch = {
    tokenIds: Int32Array.from({ length: numTokens }, (_, n) => (n * 37 + (n % 7) * 11) % config.vocabSize),
    sequenceOffsets,
    lossWeights: Float32Array.from({ length: numTokens }, (_, n) => (starts.has(n) ? 0 : 1 / numTokens)),
    advantages: null,
    proximalLogprobs: null,
    referenceLogprobs: null,
    returns: null,
    proximalValues: null,
  };
  const losses = [];
  for (let step = 0; step < 5; step++) {
    const { loss } = await optimizer.accumulate(batch, {
      policyLoss: 'crossEntropy',
      policyLossOptions: {},
      valueCoefficient: 0,
      valueClip: null,
      entropyCoefficient: 0.01,
      klCoefficient: 0,
      klEstimator: 'k3',
      temperature: 1,
      maxTokensPerMicroBatch: 128,
    });
    losses.push(loss);
    await optimizer.apply({ learningRate: 1e-3, maxGradientNorm: 1 });
  }
  const { logprobs } = await scoreTokens(model, batch, { temperature: 1, maxTokensPerMicroBatch: 512 });
  const greedyTokens = await continueGreedily(model, batch.tokenIds.subarray(0, 12));
  optimizer.dispose();
  model.dispose();
  return { losses, logprobs: [...logprobs].filter(Number.isFinite), greedyTokens };
}

async function continueGreedily(model, tokenIds) {
  const generator = new Generator(model, { maxSlots: 1, maxTokens: 32, maxNewTokens: 16 });
  generator.add({
    slot: 0,
    keptPrefixTokens: 0,
    tokenIds,
    temperature: 1,
    greedy: true,
    maxNewTokens: 16,
    stopTokenIds: [],
    samplingSeed: 1,
  });
  const tokens = [];
  while (generator.numPending > 0) {
    for (const turn of await generator.step()) tokens.push(...turn.tokenIds);
  }
  generator.dispose();
  return tokens;
}

/** As a program: prints the outcome on the backend that its argument names. */
if (process.argv[1] === new URL(import.meta.url).pathname) {
  await openBackend({ prefer: [process.argv[2]] });
  console.log(JSON.stringify(await trainAndGenerate()));
}
