import { applyKlPenalty, estimateKl, type KlEstimator } from '@retrace/algorithms';
import type { ReadBatch } from './read-batch.js';
import { countMarked, gather } from './token-columns.js';

interface KlCharge {
  /** [N] logπ at the start of the update, so that the charge has no gradient. */
  readonly proximal: Float32Array;
  /** [N] logπ of the reference policy; null where the KL is not charged to rewards. */
  readonly reference: Float32Array | null;
  /** β */
  readonly coefficient: number;
  readonly estimator: KlEstimator;
}

export interface ChargedRewards {
  /** [A] */
  readonly rewards: Float32Array;
  /** Mean KL from the reference policy over the sampled tokens, where it was charged to the rewards; else null. */
  readonly meanKl: number | null;
  /** [A] That KL of each action token. */
  readonly kls: Float32Array | null;
}

/**
 * The reward of each action token: what scoring allocated to it, less β·KL_t where the KL is charged to rewards.
 *
 * @param allocated [A]
 */
export function computeTokenRewards(
  allocated: Float32Array,
  { batch: { actionTokens }, sampled }: Pick<ReadBatch, 'batch' | 'sampled'>,
  charge: KlCharge,
): ChargedRewards {
  if (charge.reference === null) return { rewards: allocated, meanKl: null, kls: null };
  const { coefficient, estimator } = charge;
  const proximalLogprobs = gather(charge.proximal, actionTokens);
  const referenceLogprobs = gather(charge.reference, actionTokens);
  const { values: kls } = estimateKl(proximalLogprobs, referenceLogprobs, { estimator });
  return {
    rewards: applyKlPenalty({
      rewards: allocated,
      proximalLogprobs,
      referenceLogprobs,
      coefficient,
      estimator,
    }),
    meanKl: kls.reduce((sum, kl) => sum + kl, 0) / Math.max(1, countMarked(sampled)),
    kls,
  };
}
