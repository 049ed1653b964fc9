import { checkFinite } from '../layout/check.js';
import { AlgorithmError } from '../errors.js';

/**
 * Marks the tokens of the highest entropy `[N]`: those at or over the (1 − fraction) quantile, interpolated linearly, of all of
 * them (Wang et al., arXiv:2506.01939; TRL's `top_entropy_quantile`). Only these get a policy gradient.
 *
 * @param entropies of the distribution that each token was chosen from `[N]`
 * @param fraction in (0, 1]; 1 marks all
 * @throws AlgorithmError `INVALID_ARGUMENT` for entropies that are not finite or another fraction
 */
export function highEntropyTokens(entropies: Float32Array, fraction: number): Uint8Array {
  checkFinite({ entropies });
  if (!(fraction > 0 && fraction <= 1)) {
    throw new AlgorithmError('INVALID_ARGUMENT', `fraction is ${fraction}, must be in (0, 1]`);
  }
  const sorted = entropies.slice().sort();
  const position = (1 - fraction) * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  const threshold = sorted[below] + (position - below) * (sorted[above] - sorted[below]);
  return Uint8Array.from(entropies, (entropy) => Number(entropy >= threshold));
}
