import { clippedSurrogate, ppoOptions } from './clipped-surrogate.js';
import { definePolicyLoss } from './policy-loss.js';

/**
 * Proximal policy optimisation (Schulman et al., arXiv:1707.06347, eq. 7) with separate bounds (DAPO,
 * arXiv:2503.14476) and dual clip (Ye et al., arXiv:1912.09729):
 *
 *     ρ = exp(clamp(logπ − logπ_prox, ±20))
 *     ℓ = max(−Aρ, −A·clip(ρ, 1 − clipLow, 1 + clipHigh)); where A < 0: ℓ = min(ℓ, −dualClip·A)
 *
 * dℓ/dlogπ = −Aρ where nothing is clipped, else 0. At A = 0 both are 0. `dualClip: null` turns that bound off.
 */
export const ppo = definePolicyLoss({
  name: 'ppo',
  source: 'arXiv:1707.06347 eq. 7; arXiv:2503.14476; arXiv:1912.09729',
  scope: 'token',
  needsBehaviorLogprobs: false,
  correctsForBehavior: false,
  options: ppoOptions,
  compute: (input, clip) => clippedSurrogate(input, { clip }),
});
