import { validateTransformerConfig } from '../model/transformer-config.js';
import type { TransformerConfig } from '../model/transformer-config.js';
import { architectureFor, findArchitecture } from './architectures/registry.js';
import { ConfigJson } from './config-json.js';
import { readRopeParameters, writeRopeParameters } from './rope-parameters.js';

/** The parts of a model that its `config.json` does not describe. */
export interface HuggingFaceModelOptions extends Pick<
  TransformerConfig,
  'valueHead' | 'valueTrunk' | 'lora'
> {
  /** Longest context to support (default: the model's own). */
  readonly maxPositions?: number;
}

/**
 * Reads a model's config from its parsed `config.json`.
 *
 * @param file the file's name in messages
 * @throws PolicyError `UNSUPPORTED_MODEL` when a field asks for something that `Transformer` does not support, `INVALID_FILE` when one is missing or has the wrong type, `INVALID_CONFIG` when fields contradict each other
 */
export function parseHuggingFaceConfig(
  json: unknown,
  { maxPositions, ...options }: HuggingFaceModelOptions,
  file = 'config.json',
): TransformerConfig {
  const config = new ConfigJson(file, json);
  const architecture = findArchitecture(config);
  config.requireAbsentOr('hidden_act', 'silu');
  config.requireAbsentOr('mlp_bias', false);
  config.requireAbsentOr('quantization_config', null);
  const hiddenSize = config.number('hidden_size');
  const numHeads = config.number('num_attention_heads');
  const parsed: TransformerConfig = {
    vocabSize: config.number('vocab_size'),
    hiddenSize,
    numLayers: config.number('num_hidden_layers'),
    numHeads,
    numKeyValueHeads: config.optionalNumber('num_key_value_heads') ?? numHeads,
    headDim: config.optionalNumber('head_dim') ?? hiddenSize / numHeads,
    intermediateSize: config.number('intermediate_size'),
    ...readRopeParameters(config),
    rmsNormEps: config.number('rms_norm_eps'),
    tieWordEmbeddings: config.optionalBoolean('tie_word_embeddings') ?? false,
    ...architecture.readFeatures(config),
    maxPositions: maxPositions ?? config.number('max_position_embeddings'),
    ...options,
  };
  requireFullAttention(config, parsed.maxPositions);
  validateTransformerConfig(parsed);
  return parsed;
}

/** Writes a model's `config.json` for transformers. */
export function writeHuggingFaceConfig(config: TransformerConfig, dtype: string): Record<string, unknown> {
  const { architecture, features } = architectureFor(config);
  return {
    architectures: [architecture.className],
    model_type: architecture.modelType,
    dtype,
    hidden_act: 'silu',
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    num_hidden_layers: config.numLayers,
    num_attention_heads: config.numHeads,
    num_key_value_heads: config.numKeyValueHeads,
    head_dim: config.headDim,
    intermediate_size: config.intermediateSize,
    ...writeRopeParameters(config),
    rms_norm_eps: config.rmsNormEps,
    tie_word_embeddings: config.tieWordEmbeddings,
    max_position_embeddings: config.maxPositions,
    ...features,
  };
}

/** Refuses layers that don't see the whole context: a sliding window must be off, or at least as long as the longest context. */
function requireFullAttention(config: ConfigJson, maxPositions: number): void {
  const layerTypes = config.get('layer_types') === null ? [] : config.strings('layer_types');
  if (layerTypes.some((type) => type !== 'full_attention')) {
    config.refuse('layer_types', 'must be full_attention for every layer');
  }
  const window = config.optionalNumber('sliding_window');
  const isOff = window === null || config.get('use_sliding_window') === false;
  if (!isOff && window < maxPositions) {
    config.refuse('sliding_window', `must be at least the longest context, ${maxPositions} tokens, or null`);
  }
}
