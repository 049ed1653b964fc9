import { isPositive, requireConfig } from '../require-config.js';

/** Projections that can carry an adapter, by their name in Hugging Face's modules. */
export const LORA_TARGETS = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
] as const;

export type LoraTarget = (typeof LORA_TARGETS)[number];

/** Low-rank adapters (arXiv:2106.09685): a target's weight W acts as W + (alpha/rank)·B·A, with A [rank, in], B [out, rank]. */
export interface LoraConfig {
  readonly rank: number;
  readonly alpha: number;
  /** Which projections of every layer carry an adapter. */
  readonly targets: readonly LoraTarget[];
}

/** @throws PolicyError `INVALID_CONFIG` with field, value and rule */
export function validateLoraConfig({ rank, alpha, targets }: LoraConfig): void {
  const known = LORA_TARGETS.join(', ');
  requireConfig(
    Number.isSafeInteger(rank) && rank > 0,
    'LoraConfig.rank',
    rank,
    'must be a positive integer',
  );
  requireConfig(isPositive(alpha), 'LoraConfig.alpha', alpha, 'must be a positive number');
  requireConfig(targets.length > 0, 'LoraConfig.targets', '[]', `must name at least one of ${known}`);
  for (const target of targets) {
    requireConfig(LORA_TARGETS.includes(target), 'LoraConfig.targets', target, `must be among ${known}`);
  }
  const isSet = new Set(targets).size === targets.length;
  requireConfig(isSet, 'LoraConfig.targets', targets.join(', '), 'must not repeat any');
}
