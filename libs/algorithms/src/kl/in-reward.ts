import { checkLogprobs, checkNonNegative, checkResults, checkValues } from '../layout/check.js';
import { estimateKlTerm, type KlEstimator } from './estimators.js';

export interface KlInRewardInput {
  /** Reward at each action token before the penalty `[N]`. */
  readonly rewards: Float32Array;
  /** Logprobs of the policy at the start of the update: fixed, so the reward has no gradient `[N]`. */
  readonly proximalLogprobs: Float32Array;
  readonly referenceLogprobs: Float32Array;
  /** β ≥ 0. */
  readonly coefficient: number;
  readonly estimator: KlEstimator;
}

/**
 * KL penalty inside the reward: r_t − β·KL_t at every action token `[N]` (Ziegler et al., arXiv:1909.08593). Applied
 * before returns and advantages; don't also put the KL into the loss unless you mean both.
 */
export function applyKlPenalty(input: KlInRewardInput): Float32Array {
  const { rewards, proximalLogprobs, referenceLogprobs, coefficient, estimator } = input;
  checkValues({ rewards }, rewards.length);
  checkLogprobs({ proximalLogprobs, referenceLogprobs }, rewards.length);
  checkNonNegative({ coefficient });
  const charged = rewards.map(
    (reward, t) =>
      reward - coefficient * estimateKlTerm(estimator, proximalLogprobs[t] - referenceLogprobs[t]),
  );
  checkResults({ rewards: charged });
  return charged;
}
