import { nullable, moreThan, positive, positiveFraction, type OptionsOf } from '../registry/index.js';
import { requireOutput } from '../layout/output.js';
import type { PolicyLossInput, PolicyLossTerms } from './policy-loss.js';
import { LOG_RATIO_LIMIT, checkSums, clamp, clippedOutput, meansOver } from './token-loss.js';

/** Bounds of the clipped surrogate, shared by the losses built on it. */
export const ppoOptions = {
  clipLow: positiveFraction(0.2),
  clipHigh: positive(0.2),
  dualClip: nullable(moreThan(1, 3), 3),
};
export type PpoClip = OptionsOf<typeof ppoOptions>;

/**
 * Where the log ratio of a token leaves the range in which it has a gradient: entry 0 for A ≥ 0, entry 1 for A < 0.
 *
 * PPO's maxima and minima are no more than that: for A ≥ 0 max(−Aρ, −A·clip ρ) = −A·min(ρ, 1 + clipHigh), for A < 0 with the dual
 * clip it is −A·min(max(ρ, 1 − clipLow), dualClip).
 */
export interface LogRatioBounds {
  readonly least: Float64Array;
  readonly most: Float64Array;
}

export function logRatioBounds({ clipLow, clipHigh, dualClip }: PpoClip): LogRatioBounds {
  const limited = (log: number) => clamp(log, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
  return {
    least: Float64Array.of(-LOG_RATIO_LIMIT, limited(Math.log1p(-clipLow))),
    most: Float64Array.of(
      limited(Math.log1p(clipHigh)),
      dualClip === null ? LOG_RATIO_LIMIT : limited(Math.log(dualClip)),
    ),
  };
}

/** Whether the clip removes a token's gradient. At A = 0 it has none. */
export function isClipped(logRatio: number, advantage: number, { least, most }: LogRatioBounds): boolean {
  const sign = advantage < 0 ? 1 : 0;
  const bound = logRatio < least[sign] ? least[sign] : logRatio > most[sign] ? most[sign] : null;
  return bound !== null && advantage !== 0 && Math.abs(bound) < LOG_RATIO_LIMIT;
}

export interface SurrogateOptions {
  readonly clip: PpoClip;
  /** Log ratio of each token, where it is not its own logπ − logπ_prox `[N]`. */
  readonly logRatios?: Float64Array | null;
  /** Fixed factor on each token's loss `[N]`; 0 drops the token, which counts as clipped. */
  readonly factors?: Float64Array | null;
}

/**
 * The clipped surrogate over all tokens, with its gradient and the statistics of `overTokens`:
 *
 *     ρ = exp(clamp(logπ − logπ_prox, ±20)), ℓ = f·max(−Aρ, −A·clip(ρ, 1 − clipLow, 1 + clipHigh)); where A < 0: ℓ = min(ℓ, −f·dualClip·A)
 *
 * dℓ/dlogπ = −f·Aρ where nothing is clipped, else 0; where both branches are equal it is that of the unclipped one.
 *
 * One flat loop and no function called for each token: the branch on the sign of A, which no processor can foresee, is a look-up.
 *
 * @throws AlgorithmError as `overTokens`
 */
export function clippedSurrogate(
  input: PolicyLossInput,
  { clip, logRatios = null, factors = null }: SurrogateOptions,
): PolicyLossTerms {
  const { logprobs, proximalLogprobs, advantages, weights, importanceWeights = null } = input;
  const bounds = logRatioBounds(clip);
  const { least, most } = bounds;
  const signBits = new Int32Array(advantages.buffer, advantages.byteOffset, advantages.length);
  const tokenLosses = requireOutput('tokenLosses', input.output?.tokenLosses, logprobs.length);
  const gradients = requireOutput('gradients', input.output?.gradients, logprobs.length);
  const clippedTokens = clippedOutput(input);
  // Clipped and dropped tokens keep a gradient of 0.
  if (input.output) {
    tokenLosses.fill(0);
    gradients.fill(0);
  }
  let loss = 0;
  let numTokens = 0;
  let numClipped = 0;
  let sumOfDifferences = 0;
  let poison = 0;
  let squares = 0;
  for (let t = 0; t < logprobs.length; t++) {
    const difference = logprobs[t] - proximalLogprobs[t];
    const advantage = advantages[t];
    const weight = importanceWeights === null ? weights[t] : weights[t] * importanceWeights[t];
    poison += difference;
    const logRatio = logRatios === null ? difference : logRatios[t];
    const factor = factors === null ? 1 : factors[t];
    const sign = signBits[t] >>> 31;
    let clipped = 0;
    if (factor === 0) {
      clipped = 1;
      poison += advantage + weight;
    } else if (logRatio >= least[sign] && logRatio <= most[sign]) {
      const tokenLoss = -factor * advantage * Math.exp(logRatio);
      tokenLosses[t] = tokenLoss;
      gradients[t] = weight * tokenLoss;
      loss += weight * tokenLoss;
      squares += tokenLoss * tokenLoss * (1 + weight * weight);
    } else {
      const tokenLoss = -factor * advantage * Math.exp(clamp(logRatio, least[sign], most[sign]));
      tokenLosses[t] = tokenLoss;
      loss += weight * tokenLoss;
      squares += tokenLoss * tokenLoss;
      clipped = Number(isClipped(logRatio, advantage, bounds));
    }
    if (clippedTokens !== null) clippedTokens[t] = clipped;
    if (weights[t] !== 0) {
      numTokens += 1;
      numClipped += clipped;
      sumOfDifferences += difference;
    }
  }
  checkSums(input, { poison, squares, loss, tokenLosses, gradients });
  return { loss, tokenLosses, gradients, statistics: meansOver(numTokens, { numClipped, sumOfDifferences }) };
}
