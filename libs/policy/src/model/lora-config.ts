import { PolicyError } from '../policy-error.js';

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

/** @throws PolicyError `INVALID_CONFIG` naming field, value and rule */
export function validateLoraConfig({ rank, alpha, targets }: LoraConfig): void {
  check(Number.isSafeInteger(rank) && rank > 0, 'rank', rank, 'must be a positive integer');
  check(Number.isFinite(alpha) && alpha > 0, 'alpha', alpha, 'must be a positive number');
  check(targets.length > 0, 'targets', '[]', `must name at least one of ${LORA_TARGETS.join(', ')}`);
  for (const target of targets) {
    check(LORA_TARGETS.includes(target), 'targets', target, `must be among ${LORA_TARGETS.join(', ')}`);
  }
  check(new Set(targets).size === targets.length, 'targets', targets.join(', '), 'must not repeat any');
}

function check(holds: boolean, field: keyof LoraConfig, value: unknown, rule: string): void {
  if (!holds) throw new PolicyError('INVALID_CONFIG', `LoraConfig.${field} is ${value}; it ${rule}`);
}
