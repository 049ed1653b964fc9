import { PolicyError } from '../policy-error.js';
import { validateTransformerConfig } from './transformer-config.js';
import type { TransformerConfig } from './transformer-config.js';

/** What of a model its `config.json` doesn't say. */
export interface HuggingFaceModelOptions {
  readonly valueHead: boolean;
  /** Longest context to provide for; by default what the model was made for. */
  readonly maxPositions?: number;
}

type ConfigJson = Readonly<Record<string, unknown>>;

/**
 * The config of a Qwen2 or Llama model from its parsed `config.json`; `rope_theta` may stand at the top level or in
 * `rope_parameters` (transformers 5).
 * Throws `PolicyError` (`INVALID_FILE`) when a field is missing or asks for what the transformer here can't do.
 */
export function parseHuggingFaceConfig(json: unknown, options: HuggingFaceModelOptions): TransformerConfig {
  const config = (json ?? {}) as ConfigJson;
  const modelType = config.model_type;
  if (modelType !== 'qwen2' && modelType !== 'llama')
    refuse('model_type', modelType, 'must be qwen2 or llama');
  requireAbsent(config, 'use_sliding_window', false);
  requireAbsent(config, 'mlp_bias', false);
  // Llama's flag puts a bias on the output projection, too.
  if (modelType === 'llama') requireAbsent(config, 'attention_bias', false);
  requireAbsent(config, 'hidden_act', 'silu');
  const hiddenSize = requireNumber(config, 'hidden_size');
  const numHeads = requireNumber(config, 'num_attention_heads');
  const parsed: TransformerConfig = {
    vocabSize: requireNumber(config, 'vocab_size'),
    hiddenSize,
    numLayers: requireNumber(config, 'num_hidden_layers'),
    numHeads,
    numKeyValueHeads: optionalNumber(config, 'num_key_value_heads') ?? numHeads,
    headDim: optionalNumber(config, 'head_dim') ?? hiddenSize / numHeads,
    intermediateSize: requireNumber(config, 'intermediate_size'),
    ropeTheta: ropeTheta(config),
    rmsNormEps: requireNumber(config, 'rms_norm_eps'),
    tieWordEmbeddings: config.tie_word_embeddings === true,
    attentionBias: modelType === 'qwen2',
    maxPositions: options.maxPositions ?? requireNumber(config, 'max_position_embeddings'),
    valueHead: options.valueHead,
  };
  validateTransformerConfig(parsed);
  return parsed;
}

function ropeTheta(config: ConfigJson): number {
  const parameters = (config.rope_parameters ?? config.rope_scaling ?? {}) as ConfigJson;
  const type = parameters.rope_type ?? parameters.type ?? 'default';
  if (type !== 'default') refuse('rope_type', type, 'must be default');
  return optionalNumber(parameters, 'rope_theta') ?? requireNumber(config, 'rope_theta');
}

/** A field that may be missing, and otherwise must have the one value that is supported. */
function requireAbsent(config: ConfigJson, field: string, supported: unknown): void {
  const value = config[field] ?? supported;
  if (value !== supported) refuse(field, value, `must be ${String(supported)}`);
}

function requireNumber(config: ConfigJson, field: string): number {
  return optionalNumber(config, field) ?? refuse(field, undefined, 'is required');
}

function optionalNumber(config: ConfigJson, field: string): number | null {
  const value = config[field] ?? null;
  if (value !== null && typeof value !== 'number') refuse(field, value, 'must be a number');
  return value as number | null;
}

function refuse(field: string, value: unknown, rule: string): never {
  throw new PolicyError('INVALID_FILE', `config.json has ${field} ${JSON.stringify(value)}; it ${rule}`);
}
