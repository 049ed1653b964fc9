import { DEFAULT_TOKENS_PER_STEP, MAX_FRESH_TOKENS } from '../generation/generator.js';
import type { GeneratorOptions } from '../generation/generator-options.js';
import { MAX_LOGITS } from '../logprobs/token-distribution.js';
import { parameterSpecs } from '../model/parameter-layout.js';
import { numElements } from '../parameters/parameter-spec.js';
import type { TransformerConfig } from '../model/transformer-config.js';

/** One use of memory, in bytes. */
export interface MemoryPart {
  readonly name: string;
  readonly bytes: number;
}

/** The peak of a process's resident memory. */
export interface MemoryEstimate {
  readonly totalBytes: number;
  /** Added to a process that has the program already. */
  readonly addedBytes: number;
  /** From longest to shortest lived; with the program they add up to the total. */
  readonly parts: readonly MemoryPart[];
}

/** The tokens that one pass computes, all at once. */
export interface PassShape {
  /** At most `maxTokensPerMicroBatch`. */
  readonly passTokens: number;
}

export interface TrainingShape extends PassShape {
  /** Whether a step accumulates over more than one pass. */
  readonly accumulates: boolean;
  /** `LossOptions.recomputeLayers`: a layer's outputs are computed again for the gradient. */
  readonly recomputesLayers?: boolean;
  /** Whether the moments are on disk between steps. */
  readonly momentsOnDisk?: boolean;
  /** Whether a frozen reference policy is kept beside the model; it shares with the model what is not trained. */
  readonly keepsReference?: boolean;
  /** Whether the loss reads the logprobs of other ids than the tokens', as of a teacher's likeliest. */
  readonly readsOtherIds?: boolean;
}

/** `GeneratorOptions`: contexts that are kept at the same time, their longest, and the longest turn. */
export type GenerationShape = Pick<GeneratorOptions, 'maxSlots' | 'maxTokens' | 'maxNewTokens'>;

const BYTES_PER_VALUE = 4;
const MEBIBYTE = 2 ** 20;

/** Node, this library and TensorFlow with its threads, before the first tensor; measured. */
const PROGRAM_BYTES = 380 * MEBIBYTE;

/**
 * Factor on the activations for memory that the allocator holds beside live tensors, measured over the shapes of
 * `npm run test:long -- memory-estimate`, which holds every prediction to 20 % of its measurement.
 */
const ALLOCATOR_FACTOR = 1.25;

/**
 * The peak of loading a model and training it: weights 4 bytes a parameter; for what is trained the weights of the reference policy,
 * if there is one, two moments, the gradient, and its copies while it is laid into buckets and added; the activations of one pass, each layer's outputs, which live until
 * the forward pass has ended; a chunk of logits and its gradient. For the backend that `installBackend` makes, with its fused
 * ops: without them attention scores are kept as well.
 */
export function estimateTrainingMemory(config: TransformerConfig, shape: TrainingShape): MemoryEstimate {
  const { numParameters, numTrained } = countParameters(config);
  // Two moments, the gradient, its copy in buckets, and a step's results; with several passes also the sum and its addend.
  const copies = (shape.accumulates ? 7.2 : 5.2) - (shape.momentsOnDisk === true ? 2 : 0);
  return sum([
    { name: 'weights', bytes: numParameters * BYTES_PER_VALUE },
    ...(shape.keepsReference === true
      ? [{ name: 'reference policy', bytes: numTrained * BYTES_PER_VALUE }]
      : []),
    { name: 'gradients and optimizer', bytes: numTrained * copies * BYTES_PER_VALUE },
    {
      name: 'activations of a pass',
      bytes: activationBytes(config, shape.passTokens, shape.recomputesLayers),
    },
    // The derivatives by other ids are a chunk of logits of their own, and another while they are added.
    { name: 'logits', bytes: (shape.readsOtherIds === true ? 4 : 2) * logitBytes(config, shape.passTokens) },
  ]);
}

/**
 * The peak of loading a model and generating with it: weights, the cache of keys and values, and the largest pass over prompts that the options
 * allow. Turns of one token may have a context without a cache, which is computed in larger passes.
 */
export function estimateGenerationMemory(config: TransformerConfig, shape: GenerationShape): MemoryEstimate {
  const { numLayers, numKeyValueHeads, headDim } = config;
  const { maxSlots, maxTokens, maxNewTokens } = shape;
  const limit = maxNewTokens === 1 ? MAX_FRESH_TOKENS : Math.max(DEFAULT_TOKENS_PER_STEP, maxSlots);
  const passTokens = Math.min(maxSlots * maxTokens, limit);
  const perToken = 2 * numLayers * numKeyValueHeads * headDim * BYTES_PER_VALUE;
  return sum([
    // Twice, as while they are loaded.
    { name: 'weights', bytes: 2 * countParameters(config).numParameters * BYTES_PER_VALUE },
    { name: 'keys and values', bytes: (maxSlots + 1) * maxTokens * perToken },
    { name: 'activations of a pass', bytes: generationBytes(config, passTokens) },
    { name: 'logits', bytes: 2 * maxSlots * config.vocabSize * BYTES_PER_VALUE },
  ]);
}

/** Counts the numbers of a model, and those of them that are trained. */
export function countParameters(config: TransformerConfig): {
  readonly numParameters: number;
  readonly numTrained: number;
} {
  let [numParameters, numTrained] = [0, 0];
  for (const { shape, isFrozen } of parameterSpecs(config)) {
    numParameters += numElements(shape);
    if (!isFrozen) numTrained += numElements(shape);
  }
  return { numParameters, numTrained };
}

/** Sizes of the outputs of a forward pass that a gradient needs, counted op by op in units of the widths of a layer. */
function activationBytes(
  {
    hiddenSize,
    numLayers,
    numHeads,
    numKeyValueHeads,
    headDim,
    intermediateSize,
    lora,
    valueTrunk,
  }: TransformerConfig,
  passTokens: number,
  recomputesLayers = false,
): number {
  const qkvWidth = (numHeads + 2 * numKeyValueHeads) * headDim;
  const perLayer =
    lora === undefined
      ? 10 * hiddenSize + 4 * qkvWidth + 4 * intermediateSize
      : 20 * hiddenSize + 10 * qkvWidth + 11 * intermediateSize;
  const numTrunks = valueTrunk === 'own' ? 2 : 1;
  const ofTrunk = recomputesLayers ? perLayer + numLayers * hiddenSize : numLayers * perLayer;
  return passTokens * numTrunks * ofTrunk * ALLOCATOR_FACTOR * BYTES_PER_VALUE;
}

/** The same without a gradient: fused ops keep fewer outputs, but those of all layers. With adapters, of one measured shape. */
function generationBytes(
  { hiddenSize, numLayers, numHeads, numKeyValueHeads, headDim, intermediateSize, lora }: TransformerConfig,
  passTokens: number,
): number {
  const contextWidth = numHeads * headDim;
  const qkvWidth = contextWidth + 2 * numKeyValueHeads * headDim;
  const perLayer =
    lora === undefined
      ? 2 * hiddenSize + 2 * qkvWidth + contextWidth + 3 * intermediateSize
      : 4 * hiddenSize + 4 * qkvWidth + contextWidth + 6 * intermediateSize;
  return passTokens * numLayers * perLayer * ALLOCATOR_FACTOR * BYTES_PER_VALUE;
}

function logitBytes({ vocabSize }: TransformerConfig, passTokens: number): number {
  return Math.min(passTokens * vocabSize, Math.max(MAX_LOGITS, vocabSize)) * BYTES_PER_VALUE;
}

function sum(parts: readonly MemoryPart[]): MemoryEstimate {
  const addedBytes = parts.reduce((total, { bytes }) => total + bytes, 0);
  return { parts, addedBytes, totalBytes: PROGRAM_BYTES + addedBytes };
}
