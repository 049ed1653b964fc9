/**
 * Fails unless both arrays are equally long and every pair differs by at most `tolerance`, relative to the larger of
 * the two but at least to 1. The message names the worst entry.
 */
export function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = 1e-5): void {
  if (actual.length !== expected.length) {
    throw new Error(`${actual.length} entries, expected ${expected.length}`);
  }
  let worst = -1;
  let worstError = tolerance;
  for (let i = 0; i < actual.length; i++) {
    const scale = Math.max(1, Math.abs(expected[i]), Math.abs(actual[i]));
    const error = Math.abs(actual[i] - expected[i]) / scale;
    // Written so that NaN fails.
    if (!(error <= worstError)) {
      worst = i;
      worstError = error;
    }
  }
  if (worst === -1) return;
  throw new Error(
    `entry ${worst} is ${actual[worst]}, expected ${expected[worst]} (error ${worstError.toExponential(2)} > ${tolerance})`,
  );
}
