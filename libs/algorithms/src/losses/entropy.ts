import { checkFinite, checkLength, checkPositiveInteger } from '../layout/check.js';

export interface EntropyTerms {
  /** Entropy of each row's distribution `[T]`, nats. */
  readonly entropies: Float32Array;
  /** dH/dlogit `[T·V]`. */
  readonly gradients: Float32Array;
}

/**
 * Entropy of categorical distributions given by their logits, T rows of `numCategories` V:
 * H = −Σ_v p_v log p_v, dH/dz_v = −p_v (log p_v + H). Stable for any finite logits: the largest is subtracted first.
 *
 * The entropy bonus of a loss is −coefficient · Σ_t w_t H_t with the loss's own aggregation weights.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` unless V is an integer ≥ 1 that divides the number of logits, all finite
 */
export function categoricalEntropy(logits: Float32Array, numCategories: number): EntropyTerms {
  checkPositiveInteger({ numCategories });
  const numRows = Math.floor(logits.length / numCategories);
  checkLength({ logits }, numRows * numCategories);
  checkFinite({ logits });
  const entropies = new Float32Array(numRows);
  const gradients = new Float32Array(logits.length);
  for (let row = 0; row < numRows; row++) {
    const start = row * numCategories;
    const end = start + numCategories;
    let largest = -Infinity;
    for (let v = start; v < end; v++) largest = Math.max(largest, logits[v]);
    let total = 0;
    for (let v = start; v < end; v++) total += Math.exp(logits[v] - largest);
    const logNormalizer = largest + Math.log(total);
    let entropy = 0;
    for (let v = start; v < end; v++) {
      const logp = logits[v] - logNormalizer;
      entropy -= Math.exp(logp) * logp;
    }
    entropies[row] = entropy;
    for (let v = start; v < end; v++) {
      const logp = logits[v] - logNormalizer;
      gradients[v] = -Math.exp(logp) * (logp + entropy);
    }
  }
  return { entropies, gradients };
}
