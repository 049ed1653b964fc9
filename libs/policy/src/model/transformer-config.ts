import { PolicyError } from '../policy-error.js';
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
  /** Width of one head; even, because rotary positions turn pairs. */
  readonly headDim: number;
  /** Width of the SwiGLU. */
  readonly intermediateSize: number;
  readonly ropeTheta: number;
  /** How rotary frequencies are stretched for contexts longer than the model was first trained on; absent: they aren't. */
  readonly ropeScaling?: RopeScaling;
  readonly rmsNormEps: number;
  /** The LM head is the token embedding. */
  readonly tieWordEmbeddings: boolean;
  /** Bias on the query, key and value projections (Qwen2). */
  readonly attentionBias: boolean;
  /** RMSNorm of each query and key head before it is turned (Qwen3); absent: none. */
  readonly queryKeyNorm?: boolean;
  /** Longest context, in tokens. */
  readonly maxPositions: number;
  /** A scalar head V on the final hidden state. */
  readonly valueHead: boolean;
  /**
   * Whose final hidden state the value head reads: the policy's (`shared`, the default) or that of a second trunk of
   * the same shape (`own`), which under adapters is the same base with adapters of its own.
   */
  readonly valueTrunk?: 'shared' | 'own';
  /** Low-rank adapters: they and the value head are trained, the rest is frozen. Absent: everything is trained. */
  readonly lora?: LoraConfig;
  /**
   * Standard deviation of the initial weights. Without it: 1/√fan-in, and 1/√(2·numLayers) of that for the
   * projections that write into the residual stream.
   */
  readonly initializerStd?: number;
  /** Standard deviation of the initial LM head (untied only); small values start near the uniform policy. */
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

/** @throws PolicyError `INVALID_CONFIG` that names the first field at fault, its value and the rule */
export function validateTransformerConfig(config: TransformerConfig): void {
  for (const field of POSITIVE_INTEGERS) {
    check(
      Number.isSafeInteger(config[field]) && config[field] > 0,
      field,
      config[field],
      'must be a positive integer',
    );
  }
  check(
    config.numHeads % config.numKeyValueHeads === 0,
    'numHeads',
    config.numHeads,
    `must be a multiple of numKeyValueHeads (${config.numKeyValueHeads})`,
  );
  check(config.headDim % 2 === 0, 'headDim', config.headDim, 'must be even');
  check(isPositive(config.ropeTheta), 'ropeTheta', config.ropeTheta, 'must be a positive number');
  check(isPositive(config.rmsNormEps), 'rmsNormEps', config.rmsNormEps, 'must be a positive number');
  if (config.ropeScaling) validateRopeScaling(config.ropeScaling, config.maxPositions);
  if (config.lora) validateLoraConfig(config.lora);
  check(
    config.valueHead || config.valueTrunk === undefined,
    'valueTrunk',
    config.valueTrunk,
    'must be absent when valueHead is false',
  );
  for (const field of ['initializerStd', 'lmHeadInitializerStd'] as const) {
    const value = config[field];
    check(value === undefined || isPositive(value), field, value, 'must be a positive number');
  }
  check(
    !config.tieWordEmbeddings || config.lmHeadInitializerStd === undefined,
    'lmHeadInitializerStd',
    config.lmHeadInitializerStd,
    'must be absent when tieWordEmbeddings is true: there is no LM head of its own',
  );
}

function isPositive(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}

function check(holds: boolean, field: keyof TransformerConfig, value: unknown, rule: string): void {
  if (!holds) throw new PolicyError('INVALID_CONFIG', `TransformerConfig.${field} is ${value}; it ${rule}`);
}
