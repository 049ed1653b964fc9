import { readFileSync } from 'node:fs';
import { parseHuggingFaceConfig } from '../model/hugging-face-config.js';
import type { TrainingBatch } from '../losses/training-batch.js';
import type { NamedTensors } from '../model/named-tensors.js';
import { Transformer } from '../model/transformer.js';
import type { SequenceBatch } from '../packing/sequence-batch.js';

interface TensorJson {
  readonly shape: number[];
  readonly data: number[];
}

interface ModelGoldenJson {
  readonly config: unknown;
  readonly weights: Record<string, TensorJson>;
  readonly logprobs: number[][];
  readonly greedy: number[][];
  readonly meanCrossEntropy: number;
  readonly gradients: Record<string, TensorJson>;
  readonly adamW: {
    readonly learningRate: number;
    readonly beta1: number;
    readonly beta2: number;
    readonly epsilon: number;
    readonly weightDecay: number;
    readonly maxGradientNorm: number;
    readonly losses: number[];
    readonly gradientNorms: number[];
    readonly weights: Record<string, TensorJson>;
  };
}

interface TransformerGoldenJson {
  readonly tolerances: { readonly logprob: number; readonly relativeGradient: number };
  readonly sequences: number[][];
  readonly models: Record<'qwen2' | 'llama', ModelGoldenJson>;
}

/** What transformers computes for two tiny models (test/golden/policy/generate_golden.py). */
export const transformerGolden = JSON.parse(
  readFileSync(new URL('../../../../test/golden/policy/transformer.json', import.meta.url), 'utf8'),
) as TransformerGoldenJson;

export const goldenModelNames = ['qwen2', 'llama'] as const;

export function goldenModel(name: 'qwen2' | 'llama'): Transformer {
  const { config, weights } = transformerGolden.models[name];
  return Transformer.fromTensors(
    parseHuggingFaceConfig(config, { valueHead: false }),
    toNamedTensors(weights),
  );
}

export function goldenBatch(): SequenceBatch {
  const { sequences } = transformerGolden;
  const sequenceOffsets = new Int32Array(sequences.length + 1);
  sequences.forEach((sequence, s) => {
    sequenceOffsets[s + 1] = sequenceOffsets[s] + sequence.length;
  });
  return { tokenIds: Int32Array.from(sequences.flat()), sequenceOffsets };
}

/** Mean cross-entropy over all tokens that have a predecessor, as the golden values have it. */
export function meanCrossEntropyBatch(): TrainingBatch {
  const batch = goldenBatch();
  const starts = new Set(batch.sequenceOffsets);
  const numPredicted = batch.tokenIds.length - (batch.sequenceOffsets.length - 1);
  return {
    ...batch,
    lossWeights: Float32Array.from(batch.tokenIds, (_, n) => (starts.has(n) ? 0 : 1 / numPredicted)),
    advantages: null,
    proximalLogprobs: null,
    referenceLogprobs: null,
    returns: null,
    proximalValues: null,
  };
}

export function toNamedTensors(tensors: Record<string, TensorJson>): NamedTensors {
  return new Map(
    Object.entries(tensors).map(([name, { shape, data }]) => [
      name,
      { shape, data: Float32Array.from(data) },
    ]),
  );
}
