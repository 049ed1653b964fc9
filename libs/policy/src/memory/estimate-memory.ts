import { parameterSpecs } from '../model/parameter-layout.js';
import { numElements } from '../model/parameter-spec.js';
import type { TransformerConfig } from '../model/transformer-config.js';

/** One use of memory, in bytes. */
export interface MemoryPart {
  readonly name: string;
  readonly bytes: number;
}

/** What a process of this library needs at its peak, resident memory on the processor. */
export interface MemoryEstimate {
  readonly totalBytes: number;
  /** From the program itself to what lasts only for a moment; they add up to the total. */
  readonly parts: readonly MemoryPart[];
}

/** The tokens that one pass computes, all at once. */
export interface PassShape {
  /** Cells of one pass: `maxTokensPerMicroBatch`, or what there is where that is less. */
  readonly passTokens: number;
  /** Tokens of the longest row: attention scores grow with it. */
  readonly rowTokens: number;
}

export interface TrainingShape extends PassShape {
  /** Whether a step accumulates over more than one pass. */
  readonly accumulates: boolean;
}

export interface GenerationShape extends PassShape {
  /** `GeneratorOptions`: contexts that are kept at the same time, and their longest. */
  readonly maxSlots: number;
  readonly maxTokens: number;
}

const bytesPerValue = 4;
const mebibyte = 2 ** 20;

/** Node, this library and TensorFlow with its threads, before the first tensor; measured. */
const programBytes = 380 * mebibyte;

/**
 * What the allocator holds beside the tensors that are alive, as a factor on the activations: measured over the shapes of
 * `npm run test:long -- memory-estimate`, which holds every prediction to 20 % of its measurement.
 */
const allocatorFactor = 1.37;

/** Most logits of a chunk of the LM head, in elements (`tokenDistribution`). */
const maxLogits = 2 ** 24;

/** Rows up to this long are attended in one fused op that keeps no scores (`fusesAttention`). */
const maxFusedKeys = 128;

/**
 * The peak of loading a model and training it: weights 4 bytes a parameter; for what is trained two moments, the gradient,
 * and its copies while it is laid into buckets and added; the activations of one pass, each layer's outputs, which live until
 * the forward pass has ended; a chunk of logits and its gradient.
 */
export function estimateTrainingMemory(config: TransformerConfig, shape: TrainingShape): MemoryEstimate {
  const { numParameters, numTrained } = countParameters(config);
  // Moments 2, gradients 2, the copy in buckets, what a step makes anew; and the sum where several passes add up.
  const copies = shape.accumulates ? 8.65 : 6.65;
  return sum([
    { name: 'program', bytes: programBytes },
    { name: 'weights', bytes: numParameters * bytesPerValue },
    { name: 'gradients and optimizer', bytes: numTrained * copies * bytesPerValue },
    { name: 'activations of a pass', bytes: activationBytes(config, shape) },
    { name: 'logits', bytes: 2 * logitBytes(config, shape.passTokens) },
  ]);
}

/** The peak of loading a model and generating with it: weights, the cache of keys and values, and the largest pass over prompts. */
export function estimateGenerationMemory(config: TransformerConfig, shape: GenerationShape): MemoryEstimate {
  const { numLayers, numKeyValueHeads, headDim } = config;
  const perToken = 2 * numLayers * numKeyValueHeads * headDim * bytesPerValue;
  return sum([
    { name: 'program', bytes: programBytes },
    { name: 'weights', bytes: countParameters(config).numParameters * bytesPerValue },
    { name: 'keys and values', bytes: (shape.maxSlots + 1) * shape.maxTokens * perToken },
    { name: 'activations of a pass', bytes: activationBytes(config, shape) },
    { name: 'logits', bytes: 2 * shape.maxSlots * config.vocabSize * bytesPerValue },
  ]);
}

/** Numbers of a model of that shape, and how many of them are trained. */
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

/** The outputs of a forward pass, counted op by op in units of the widths of a layer, and one layer's scores in passing. */
function activationBytes(config: TransformerConfig, { passTokens, rowTokens }: PassShape): number {
  const { hiddenSize, numLayers, numHeads, numKeyValueHeads, headDim, intermediateSize, lora } = config;
  const qkvWidth = (numHeads + 2 * numKeyValueHeads) * headDim;
  const scores = rowTokens <= maxFusedKeys ? 0 : numHeads * rowTokens;
  const perLayer =
    lora === undefined
      ? 10 * hiddenSize + 4 * qkvWidth + 4 * intermediateSize + scores
      : 20 * hiddenSize + 10 * qkvWidth + 11 * intermediateSize + 3 * scores;
  const numTrunks = config.valueTrunk === 'own' ? 2 : 1;
  const lasting = passTokens * numLayers * numTrunks * perLayer * allocatorFactor;
  return (lasting + 2 * passTokens * scores) * bytesPerValue;
}

function logitBytes({ vocabSize }: TransformerConfig, passTokens: number): number {
  return Math.min(passTokens * vocabSize, Math.max(maxLogits, vocabSize)) * bytesPerValue;
}

function sum(parts: readonly MemoryPart[]): MemoryEstimate {
  return { parts, totalBytes: parts.reduce((total, { bytes }) => total + bytes, 0) };
}
