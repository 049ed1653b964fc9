import { checkNonNegative, SamplingError } from './sampling-error.js';

/** Keeps every item reachable: the weight of an item whose error is 0 (ε of prioritized replay). */
export const LEAST_PRIORITY = 1e-6;

/**
 * Weight of an item in a prioritized draw, (|error| + ε)^α: proportional prioritization (Schaul et al. 2016, arXiv:1511.05952, eq. 1).
 *
 * @param error such as a TD error or an advantage; the sign plays no part
 * @param exponent α ≥ 0; 0 draws uniformly
 * @throws SamplingError `INVALID_ARGUMENT` for an error that is not finite, or an exponent that is not finite and ≥ 0
 */
export function priorityWeight(error: number, exponent: number): number {
  checkNonNegative('exponent', exponent);
  checkNonNegative('|error|', Math.abs(error));
  return (Math.abs(error) + LEAST_PRIORITY) ** exponent;
}

/**
 * Importance weights π(i)^−β / max, which undo the bias of a prioritized draw (arXiv:1511.05952, section 3.4, with the probability that an item is among
 * those that were drawn in place of K·P(i), as no item is drawn twice). The largest is 1, so they only scale down.
 *
 * @param probabilities π(i) of the drawn items `[K]`, each in (0, 1]
 * @param exponent β ≥ 0; 0 gives ones
 * @returns `[K]`, in (0, 1]; empty for an empty draw
 * @throws SamplingError `INVALID_ARGUMENT`
 */
export function drawImportanceWeights(probabilities: Float64Array, exponent: number): Float64Array {
  checkNonNegative('exponent', exponent);
  const bad = probabilities.findIndex((value) => !(value > 0 && value <= 1));
  if (bad >= 0) {
    throw new SamplingError(
      'INVALID_ARGUMENT',
      `probabilities[${bad}] is ${probabilities[bad]}, must be above 0 and at most 1`,
    );
  }
  const least = probabilities.reduce((min, value) => Math.min(min, value), 1);
  return probabilities.map((value) => (least / value) ** exponent);
}
