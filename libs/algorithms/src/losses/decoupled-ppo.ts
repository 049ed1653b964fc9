import { choice, nullable, positive } from '../registry/index.js';
import { behaviorLogprobsOf, definePolicyLoss } from './policy-loss.js';
import { ppoOptions, ppoToken } from './ppo.js';
import { LOG_RATIO_LIMIT, clamp, overTokens } from './token-loss.js';

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
    const behavior = behaviorLogprobsOf(input);
    return overTokens(input, (term, t, difference, advantage) => {
      const raw = Math.exp(clamp(input.proximalLogprobs[t] - behavior[t], -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT));
      const weight = cap === null || raw <= cap ? raw : capRule === 'truncate' ? cap : 0;
      ppoToken(term, difference, advantage, clip);
      term.loss *= weight;
      term.gradient *= weight;
      if (weight === 0) term.clipped = 1;
    });
  },
});
