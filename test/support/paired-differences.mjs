/** Two-sided 95 % quantiles of Student's t by degrees of freedom, from 1. */
const STUDENT_T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
];

/**
 * Mean of paired differences with its 95 % interval, by Student's t.
 *
 * @param {readonly number[]} differences of 2 to 16 pairs
 * @returns {{ mean: number, low: number, high: number }}
 * @throws {RangeError} for another number of pairs
 */
export function comparePairs(differences) {
  const number = differences.length;
  const quantile = STUDENT_T[number - 2];
  if (quantile === undefined) throw new RangeError(`${number} pairs: must be 2 to ${STUDENT_T.length + 1}`);
  const mean = differences.reduce((sum, difference) => sum + difference, 0) / number;
  const squares = differences.reduce((sum, difference) => sum + (difference - mean) ** 2, 0);
  const margin = quantile * Math.sqrt(squares / (number - 1) / number);
  return { mean, low: mean - margin, high: mean + margin };
}
