import {
  AlgorithmError,
  getPolicyLoss,
  resolvePolicyLossOptions,
  type KlEstimator,
} from '@retrace/algorithms';
import { PolicyError } from '../policy-error.js';
import type { DistillationTerm } from './distillation-term.js';
import { isPositive, requireConfig } from '../require-config.js';

/** The weights that a gradient or a step is for: all, or where policy and critic are separate only those of one. */
export type TrainedPart = 'all' | 'policy' | 'critic';

export interface LossOptions {
  /** Any policy loss of `@retrace/algorithms`; `crossEntropy`, −log π of the recorded token, is imitation. */
  readonly policyLoss: string;
  /** Its options; those left out take its defaults. */
  readonly policyLossOptions: Readonly<Record<string, unknown>>;
  /** Weight of the value loss; 0 leaves the value head out. */
  readonly valueCoefficient: number;
  /** Values are clipped to ± this around the proximal values; null for no clip. */
  readonly valueClip: number | null;
  readonly entropyCoefficient: number;
  /** Weight of the KL to the reference policy; 0 leaves it out. */
  readonly klCoefficient: number;
  readonly klEstimator: KlEstimator;
  /** The value of `klEstimator` with the gradient of k2. Default false. */
  readonly klStraightThrough?: boolean;
  /** Multiplies the KL of each token by π/π_proximal, with its gradient. Default false. */
  readonly klBiasCorrection?: boolean;
  /** The term that draws the policy to a teacher (`TrainingBatch.teacherTop`). Default null: none. */
  readonly distillation?: DistillationTerm | null;
  /** The logits are divided by this, as they were when the tokens were sampled. */
  readonly temperature: number;
  /** Most tokens in one forward pass; results don't depend on it. */
  readonly maxTokensPerMicroBatch: number;
  /**
   * Gradient checkpointing: keep only the input of each layer, and compute the layer again for the gradient. Changes
   * memory and time, never the result. Default false.
   */
  readonly recomputeLayers?: boolean;
  /** Weights that get a gradient. With `critic` only the value term has one; the others are still measured (default `all`). */
  readonly trains?: TrainedPart;
  /** Whether the terms contain what the loss read of each token (`LossTerms.figures`). Default false. */
  readonly recordsTokens?: boolean;
}

/** @throws PolicyError `INVALID_CONFIG` with the first invalid option, its value and the rule */
export function validateLossOptions(options: LossOptions): void {
  try {
    resolvePolicyLossOptions(getPolicyLoss(options.policyLoss), options.policyLossOptions);
  } catch (cause) {
    if (!(cause instanceof AlgorithmError)) throw cause;
    throw new PolicyError('INVALID_CONFIG', cause.message, { cause });
  }
  const check = (holds: boolean, option: keyof LossOptions, rule: string) => {
    requireConfig(holds, `loss option ${option}`, options[option], rule);
  };
  const { valueClip } = options;
  check(valueClip === null || isPositive(valueClip), 'valueClip', 'must be a positive number, or null');
  for (const name of ['valueCoefficient', 'entropyCoefficient', 'klCoefficient'] as const) {
    check(Number.isFinite(options[name]) && options[name] >= 0, name, 'must not be negative');
  }
  if (options.distillation)
    check(isPositive(options.distillation.coefficient), 'distillation', 'must have a positive coefficient');
  check(isPositive(options.temperature), 'temperature', 'must be a positive number');
  check(isPositive(options.maxTokensPerMicroBatch), 'maxTokensPerMicroBatch', 'must be positive');
}
