import { choice, nullable, positive } from '../registry/index.js';
import { clippedSurrogate, ppoOptions } from './clipped-surrogate.js';
import { requireBehaviorLogprobs, definePolicyLoss, type PolicyLossInput } from './policy-loss.js';
import { LOG_RATIO_LIMIT, clamp } from './token-loss.js';

/**
 * Decoupled PPO (Hilton et al.; AReaL, arXiv:2505.24298): clip against the proximal policy, correct for the behavior policy,
 * ℓ = w·ppoClip(π/π_prox), w = exp(clamp(logπ_prox − logπ_b, ±20)) fixed. `cap` bounds w: `truncate` takes min(w, cap),
 * `filter` drops tokens with w > cap.
 */
export const decoupledPpo = definePolicyLoss({
  name: 'decoupledPpo',
  source: 'arXiv:2505.24298',
  scope: 'token',
  needsBehaviorLogprobs: true,
  correctsForBehavior: true,
  options: { ...ppoOptions, cap: nullable(positive(5)), capRule: choice('truncate', 'filter') },
  compute(input, { cap, capRule, ...clip }) {
    const factors = behaviorWeights(input).map((weight) =>
      cap === null || weight <= cap ? weight : capRule === 'truncate' ? cap : 0,
    );
    return clippedSurrogate(input, { clip, factors });
  },
});

/** w = exp(clamp(logπ_prox − logπ_b, ±20)) of each token `[N]`. */
export function behaviorWeights(input: PolicyLossInput): Float64Array {
  const behavior = requireBehaviorLogprobs(input);
  return Float64Array.from(input.proximalLogprobs, (proximal, t) =>
    Math.exp(clamp(proximal - behavior[t], -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)),
  );
}
