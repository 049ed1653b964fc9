import { moreThan, nullable, positive, positiveFraction, type OptionsOf } from '../registry/index.js';
import { definePolicyLoss } from './policy-loss.js';
import { LOG_RATIO_LIMIT, clamp, overTokens, type TokenTerm } from './token-loss.js';

/** Bounds of the clipped surrogate, shared by the losses built on it. */
export const ppoOptions = {
  clipLow: positiveFraction(0.2),
  clipHigh: positive(0.2),
  dualClip: nullable(moreThan(1, 3), 3),
};
export type PpoClip = OptionsOf<typeof ppoOptions>;

/**
 * One token of the clipped surrogate: writes ℓ, dℓ/dlogπ and whether the gradient was clipped away.
 * Where both branches are equal the ratio is inside the clip range, and the derivative is the unclipped one.
 */
export function ppoToken(term: TokenTerm, difference: number, advantage: number, clip: PpoClip): void {
  const held = clamp(difference, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
  const ratio = Math.exp(held);
  const surrogate = -advantage * ratio;
  const clippedSurrogate = -advantage * clamp(ratio, 1 - clip.clipLow, 1 + clip.clipHigh);
  const isClipped = clippedSurrogate > surrogate;
  term.loss = isClipped ? clippedSurrogate : surrogate;
  term.gradient = isClipped || held !== difference ? 0 : surrogate;
  term.clipped = Number(isClipped);
  if (clip.dualClip !== null && advantage < 0 && -clip.dualClip * advantage < term.loss) {
    term.loss = -clip.dualClip * advantage;
    term.gradient = 0;
    term.clipped = 1;
  }
}

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
  compute: (input, options) =>
    overTokens(input, (term, _t, difference, advantage) => {
      ppoToken(term, difference, advantage, options);
    }),
});
