import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { decodeSafetensors } from './safetensors.js';
import { parseHuggingFaceConfig } from '../hugging-face/model-config.js';
import type { HuggingFaceModelOptions } from '../hugging-face/model-config.js';
import type { TrainingBatch } from '../losses/training-batch.js';
import type { NamedTensor, NamedTensors } from '../parameters/named-tensors.js';
import { Transformer } from '../model/transformer.js';
import type { SequenceBatch } from '../packing/sequence-batch.js';

/** Hyperparameters of torch.optim.AdamW, and what its steps reported. */
export interface AdamWGolden {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  readonly maxGradientNorm: number;
  readonly losses: number[];
  readonly gradientNorms: number[];
}

interface PolicyGolden {
  readonly logprobs: number[][];
  readonly greedy: number[][];
  readonly oneStep: AdamWGolden;
}

interface ModelGoldenJson extends PolicyGolden {
  readonly adamW: AdamWGolden;
  readonly lora: PolicyGolden;
}

type TensorRecord = Readonly<Record<string, NamedTensor>>;

export interface ModelGolden extends PolicyGolden {
  /** [12, 32] of the first sequence. */
  readonly logits: NamedTensor;
  /** Of the mean cross-entropy, for every parameter. */
  readonly gradients: TensorRecord;
  /** Three steps, and some weights after them. */
  readonly adamW: AdamWGolden & { readonly weights: TensorRecord };
  /** Weights after one step with a large epsilon. */
  readonly oneStepWeights: TensorRecord;
  /** The model with the adapter beside it; gradients and weights are those of the adapter. */
  readonly lora: PolicyGolden & {
    readonly gradients: TensorRecord;
    readonly oneStepWeights: TensorRecord;
    readonly mergedLogits: NamedTensor;
  };
}

export const GOLDEN_MODEL_NAMES = ['qwen2', 'qwen2.5', 'qwen3', 'llama', 'mistral'] as const;

export type GoldenModelName = (typeof GOLDEN_MODEL_NAMES)[number];

const modelsDirectory = fileURLToPath(new URL('../../../../test/golden/policy/models', import.meta.url));

/** Results of transformers and peft for tiny models (test/golden/policy/generate_models.py). */
export const transformerGolden = {
  ...(readJson('golden.json') as {
    readonly tolerances: { readonly logprob: number; readonly relative: number };
    readonly sequences: number[][];
  }),
  models: Object.fromEntries(GOLDEN_MODEL_NAMES.map((name) => [name, readGolden(name)])) as Record<
    GoldenModelName,
    ModelGolden
  >,
};

/** The model as transformers saved it. */
export function goldenModelDirectory(name: GoldenModelName): string {
  return `${modelsDirectory}/${name}`;
}

export function goldenModel(
  name: GoldenModelName,
  options: Partial<HuggingFaceModelOptions> = {},
): Transformer {
  const directory = goldenModelDirectory(name);
  const shards = readdirSync(directory).filter((file) => /^model.*safetensors$/.test(file));
  const files = options.lora ? [...shards, 'adapter/adapter_model.safetensors'] : shards;
  const tensors = new Map(files.flatMap((file) => [...readTensors(`${name}/${file}`)]));
  const config = parseHuggingFaceConfig(readJson(`${name}/config.json`), { valueHead: false, ...options });
  return Transformer.fromTensors(config, tensors);
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

function readGolden(name: GoldenModelName): ModelGolden {
  const json = readJson(`${name}/golden.json`) as ModelGoldenJson;
  const tensors = readTensors(`${name}/golden.safetensors`);
  const group = (prefix: string): TensorRecord =>
    Object.fromEntries(
      [...tensors]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, tensor]) => [key.slice(prefix.length), tensor]),
    );
  return {
    ...json,
    logits: tensors.get('logits') as NamedTensor,
    gradients: group('gradient.'),
    adamW: { ...json.adamW, weights: group('adamW.') },
    oneStepWeights: group('oneStep.'),
    lora: {
      ...json.lora,
      gradients: group('lora.gradient.'),
      oneStepWeights: group('lora.oneStep.'),
      mergedLogits: tensors.get('lora.mergedLogits') as NamedTensor,
    },
  };
}

function readTensors(path: string): NamedTensors {
  return decodeSafetensors(readFileSync(`${modelsDirectory}/${path}`), path).tensors;
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(`${modelsDirectory}/${path}`, 'utf8'));
}
