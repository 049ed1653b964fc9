import { checkNonNegative } from '../layout/check.js';

/** When a value that should grow counts as one that has stopped growing. */
export interface PlateauRule {
  /** Values in a row without a gain. */
  readonly patience: number;
  /** Least difference from the best value so far that is a gain; at 0 any larger value is one. */
  readonly minGain: number;
}

/**
 * Finds the first value at which a series has stopped growing: it ends `patience` values in a row that do not gain on the best value before
 * them. A value v gains on the best b where v > b and v − b ≥ minGain (as early stopping in Keras and transformers), and is the best then. The
 * first known value is one; NaN gains nothing.
 *
 * @returns its position; null where the series still grows
 * @throws AlgorithmError `INVALID_ARGUMENT` for a negative or non-finite rule
 */
export function findPlateau(values: ArrayLike<number>, { patience, minGain }: PlateauRule): number | null {
  checkNonNegative({ patience, minGain });
  let best = Number.NaN;
  let numWithoutGain = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    const isFirst = Number.isNaN(best) && !Number.isNaN(value);
    if (isFirst || (value > best && value - best >= minGain)) {
      best = value;
      numWithoutGain = 0;
      continue;
    }
    numWithoutGain += 1;
    if (numWithoutGain >= patience) return i;
  }
  return null;
}
