import { readFileSync } from 'node:fs';
import { parseHuggingFaceConfig } from '../model/hugging-face-config.js';
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

export function toNamedTensors(tensors: Record<string, TensorJson>): NamedTensors {
  return new Map(
    Object.entries(tensors).map(([name, { shape, data }]) => [
      name,
      { shape, data: Float32Array.from(data) },
    ]),
  );
}
