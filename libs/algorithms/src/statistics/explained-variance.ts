import { checkMask, checkValues } from '../layout/check.js';

/**
 * Share of the returns' variance that the values explain: 1 − Var(G − V)/Var(G), over the tokens whose mask is 1. 1 is
 * perfect, 0 is as good as a constant, negative is worse. NaN (not available) for fewer than two tokens or constant returns.
 */
export function explainedVariance(
  values: Float32Array,
  returns: Float32Array,
  mask: Uint8Array | null = null,
): number {
  checkValues({ values, returns }, values.length);
  if (mask !== null) checkMask('mask', mask, values.length);
  let numTokens = 0;
  let meanReturn = 0;
  let meanError = 0;
  let returnSquares = 0;
  let errorSquares = 0;
  for (let t = 0; t < values.length; t++) {
    if (mask !== null && mask[t] === 0) continue;
    // Welford's recurrences: one pass, no cancellation.
    numTokens += 1;
    const error = returns[t] - values[t];
    const returnStep = returns[t] - meanReturn;
    const errorStep = error - meanError;
    meanReturn += returnStep / numTokens;
    meanError += errorStep / numTokens;
    returnSquares += returnStep * (returns[t] - meanReturn);
    errorSquares += errorStep * (error - meanError);
  }
  return numTokens < 2 || returnSquares === 0 ? NaN : 1 - errorSquares / returnSquares;
}
