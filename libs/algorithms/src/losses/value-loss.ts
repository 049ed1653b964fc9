import { checkPositive, checkResults, checkValues } from '../layout/check.js';

export interface ValueLossInput {
  /** V of the current critic `[N]`; gradients are with respect to it. */
  readonly values: Float32Array;
  /** G, fixed `[N]`. */
  readonly returns: Float32Array;
  /** V of the critic at the start of this update `[N]`; needed where there is a clip. */
  readonly proximalValues: Float32Array | null;
  /** Aggregation weights `[N]`. */
  readonly weights: Float32Array;
  /** Bound on |V − V_prox|, > 0; null: none. */
  readonly clip: number | null;
}

export interface ValueLossTerms {
  /** Σ_t w_t ℓ_t. */
  readonly loss: number;
  readonly tokenLosses: Float32Array;
  /** Derivative of `loss` with respect to each value `[N]`. */
  readonly gradients: Float32Array;
  /** Share of the weighted tokens whose loss is the clipped one. */
  readonly clipFraction: number;
}

/**
 * Squared error of the critic, clipped as PPO's reference code has it:
 * ℓ = ½·max((V − G)², (clip(V, V_prox ± c) − G)²). The gradient is V − G, and 0 where the clipped error is the
 * larger one. Without a clip ½(V − G)².
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for unequal lengths, values that are not finite, a clip that is not > 0, or a
 * clip without `proximalValues`; `OVERFLOW` for a loss or gradient beyond float32
 */
export function valueLoss(input: ValueLossInput): ValueLossTerms {
  const { values, returns, weights, clip } = input;
  checkValues({ values, returns, weights }, values.length);
  const proximal = clip === null ? null : checkClip(input, clip);
  const tokenLosses = new Float32Array(values.length);
  const gradients = new Float32Array(values.length);
  let loss = 0;
  let numTokens = 0;
  let numClipped = 0;
  for (let t = 0; t < values.length; t++) {
    const error = values[t] - returns[t];
    let largest = error * error;
    let gradient = error;
    if (proximal !== null && clip !== null) {
      const held = Math.min(proximal[t] + clip, Math.max(proximal[t] - clip, values[t]));
      const heldError = held - returns[t];
      if (heldError * heldError > largest) {
        largest = heldError * heldError;
        gradient = 0;
      }
    }
    tokenLosses[t] = 0.5 * largest;
    gradients[t] = weights[t] * gradient;
    loss += 0.5 * weights[t] * largest;
    if (weights[t] !== 0) {
      numTokens += 1;
      numClipped += Number(gradient === 0 && error !== 0);
    }
  }
  checkResults({ tokenLosses, gradients, loss });
  return { loss, tokenLosses, gradients, clipFraction: numClipped / Math.max(1, numTokens) };
}

function checkClip({ values, proximalValues }: ValueLossInput, clip: number): Float32Array {
  checkPositive({ clip });
  const proximal = proximalValues ?? new Float32Array(0);
  checkValues({ proximalValues: proximal }, values.length);
  return proximal;
}
