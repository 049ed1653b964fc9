import { isPositive, requireConfig } from '../require-config.js';
import { validateLoraConfig } from './lora-config.js';
import type { LoraConfig } from './lora-config.js';
import { validateRopeScaling } from './rope-scaling.js';
import type { RopeScaling } from './rope-scaling.js';

/**
 * Shape of a decoder-only transformer: pre-norm RMSNorm, rotary positions, grouped-query attention, SwiGLU
 * (the block of Qwen2, Qwen3, Llama and Mistral).
 */
export interface TransformerConfig {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly numLayers: number;
  /** Query heads. */
  readonly numHeads: number;
  /** Key/value heads; each serves `numHeads / numKeyValueHeads` query heads. */
  readonly numKeyValueHeads: number;
  /** Width of one head; even, because rotary positions rotate pairs. */
  readonly headDim: number;
  /** Width of the SwiGLU. */
  readonly intermediateSize: number;
  readonly ropeTheta: number;
  /** How rotary frequencies are stretched for contexts longer than the model was first trained on (default: not). */
  readonly ropeScaling?: RopeScaling;
  readonly rmsNormEps: number;
  /** The LM head is the token embedding. */
  readonly tieWordEmbeddings: boolean;
  /** Bias on the query, key and value projections (Qwen2). */
  readonly attentionBias: boolean;
  /** RMSNorm of each query and key head before rotation (Qwen3). Default false. */
  readonly queryKeyNorm?: boolean;
  /** Longest context, in tokens. */
  readonly maxPositions: number;
  /** A scalar head V on the final hidden state. */
  readonly valueHead: boolean;
  /**
   * The trunk whose final hidden state the value head reads: the policy's (`shared`, the default) or a second one of
   * the same shape (`own`), which in a model with adapters is the same base with its own adapters.
   */
  readonly valueTrunk?: 'shared' | 'own';
  /** Low-rank adapters: only they and the value head are trained. Without them everything is trained. */
  readonly lora?: LoraConfig;
  /**
   * Standard deviation of the initial LM head, only when it is not tied (default: that of the other weights, see
   * `initialTensors`); small values start near the uniform policy.
   */
  readonly lmHeadInitializerStd?: number;
}

const POSITIVE_INTEGERS = [
  'vocabSize',
  'hiddenSize',
  'numLayers',
  'numHeads',
  'numKeyValueHeads',
  'headDim',
  'intermediateSize',
  'maxPositions',
] as const satisfies readonly (keyof TransformerConfig)[];

/** @throws PolicyError `INVALID_CONFIG` with the first invalid field, its value and the rule */
export function validateTransformerConfig(config: TransformerConfig): void {
  const check = (holds: boolean, field: keyof TransformerConfig, rule: string) => {
    requireConfig(holds, `TransformerConfig.${field}`, config[field], rule);
  };
  for (const field of POSITIVE_INTEGERS) {
    check(Number.isSafeInteger(config[field]) && config[field] > 0, field, 'must be a positive integer');
  }
  const { numHeads, numKeyValueHeads, lmHeadInitializerStd } = config;
  check(
    numHeads % numKeyValueHeads === 0,
    'numHeads',
    `must be a multiple of numKeyValueHeads (${numKeyValueHeads})`,
  );
  check(config.headDim % 2 === 0, 'headDim', 'must be even');
  check(isPositive(config.ropeTheta), 'ropeTheta', 'must be a positive number');
  check(isPositive(config.rmsNormEps), 'rmsNormEps', 'must be a positive number');
  if (config.ropeScaling) validateRopeScaling(config.ropeScaling, config.maxPositions);
  if (config.lora) validateLoraConfig(config.lora);
  const hasValues = config.valueHead || config.valueTrunk === undefined;
  check(hasValues, 'valueTrunk', 'must be absent when valueHead is false');
  if (lmHeadInitializerStd === undefined) return;
  check(isPositive(lmHeadInitializerStd), 'lmHeadInitializerStd', 'must be a positive number');
  const rule = 'must be absent when tieWordEmbeddings is true: there is no LM head of its own';
  check(!config.tieWordEmbeddings, 'lmHeadInitializerStd', rule);
}
