import { Generator, PolicyOptimizer, evaluateLogprobs, Transformer } from '@retrace/policy';
import { openBackend } from '@retrace/compute';

const shared = {
  maxPositions: 256,
  ropeTheta: 1e4,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  attentionBias: true,
  valueHead: false,
};

/** Models, batches and numbers of steps; `tiny` is for devices that compile a program for each shape. */
const sizes = {
  small: {
    config: {
      vocabSize: 512,
      hiddenSize: 128,
      numLayers: 3,
      numHeads: 4,
      numKeyValueHeads: 2,
      headDim: 32,
      intermediateSize: 384,
      ...shared,
    },
    numSequences: 6,
    sequenceTokens: 48,
    numSteps: 5,
    maxNewTokens: 16,
  },
  tiny: {
    config: {
      vocabSize: 61,
      hiddenSize: 16,
      numLayers: 1,
      numHeads: 2,
      numKeyValueHeads: 1,
      headDim: 8,
      intermediateSize: 32,
      ...shared,
    },
    numSequences: 2,
    sequenceTokens: 12,
    numSteps: 2,
    maxNewTokens: 4,
  },
};

/**
 * Makes some optimizer steps from a seed on the open backend; returns the losses, the logprobs after them, and a greedy continuation.
 *
 * @typedef {{ losses: number[], logprobs: number[], greedyTokens: number[] }} Outcome
 * @param {keyof typeof sizes} [size]
 * @returns {Promise<Outcome>}
 */
export async function trainAndGenerate(size = 'small') {
  const { config, numSequences, sequenceTokens, numSteps, maxNewTokens } = sizes[size];
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
  for (let step = 0; step < numSteps; step++) {
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
  const { logprobs } = await evaluateLogprobs(model, batch, { temperature: 1, maxTokensPerMicroBatch: 512 });
  const greedyTokens = await continueGreedily(model, batch.tokenIds.subarray(0, 12), maxNewTokens);
  optimizer.dispose();
  model.dispose();
  return { losses, logprobs: [...logprobs].filter(Number.isFinite), greedyTokens };
}

async function continueGreedily(model, tokenIds, maxNewTokens) {
  const generator = new Generator(model, { maxSlots: 1, maxTokens: 32, maxNewTokens });
  generator.add({
    slot: 0,
    keptPrefixTokens: 0,
    tokenIds,
    temperature: 1,
    greedy: true,
    maxNewTokens,
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

/** As a program: prints the outcome for the backend and the size that its arguments name. */
if (process.argv[1] === new URL(import.meta.url).pathname) {
  await openBackend({ prefer: [process.argv[2]] });
  console.log(JSON.stringify(await trainAndGenerate(process.argv[3])));
}
