import { nonNegative, positiveFraction, positive, real, wholeNumber } from '../registry/index.js';
import { clippedSurrogate, isClipped, logRatioBounds } from './clipped-surrogate.js';
import { definePolicyLoss, type PolicyLossInput } from './policy-loss.js';
import { sampleWithoutReplacement } from './seeded-choice.js';
import { LOG_RATIO_LIMIT, clamp, overTokens } from './token-loss.js';

/*
 * Losses that hold back the tokens which drive entropy down: those with a high covariance of advantage and logprob,
 * c_t = (A_t − Ā)(logπ_t − mean logπ), means over the weighted tokens of the batch (Cui et al., arXiv:2505.22617). They rank
 * over the whole batch, so the tokens are selected in a pass of its own.
 */

const RANKED = { scope: 'batch', needsBehaviorLogprobs: false, correctsForBehavior: false } as const;

/** c_t `[N]`; −∞ for tokens of weight 0. */
function covariances({ advantages, logprobs, weights }: PolicyLossInput): Float64Array {
  let numTokens = 0;
  let meanAdvantage = 0;
  let meanLogprob = 0;
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue;
    numTokens += 1;
    meanAdvantage += (advantages[t] - meanAdvantage) / numTokens;
    meanLogprob += (logprobs[t] - meanLogprob) / numTokens;
  }
  return Float64Array.from(weights, (weight, t) =>
    weight === 0 ? -Infinity : (advantages[t] - meanAdvantage) * (logprobs[t] - meanLogprob),
  );
}

/** A share of the weighted tokens, at least one. */
function computeShare(fraction: number, { weights }: PolicyLossInput): number {
  return Math.max(
    1,
    Math.floor(fraction * weights.reduce((count, weight) => count + Number(weight !== 0), 0)),
  );
}

const clipOptions = { clipLow: positiveFraction(0.2), clipHigh: positive(0.2) };

/**
 * Clip-Cov: PPO, with the loss of a random share `fraction` of the tokens set to 0, drawn (by `seed`) from those with
 * lowest < c < highest that PPO did not clip.
 */
export const clipCov = definePolicyLoss({
  ...RANKED,
  name: 'clipCov',
  source: 'arXiv:2505.22617',
  options: {
    ...clipOptions,
    fraction: positiveFraction(0.0002),
    lowest: real(1),
    highest: real(5),
    seed: wholeNumber(0),
  },
  selectTokens(input, { clipLow, clipHigh, fraction, lowest, highest, seed }) {
    const bounds = logRatioBounds({ clipLow, clipHigh, dualClip: null });
    const candidates: number[] = [];
    covariances(input).forEach((covariance, t) => {
      if (covariance <= lowest || covariance >= highest) return;
      const logRatio = input.logprobs[t] - input.proximalLogprobs[t];
      if (!isClipped(logRatio, input.advantages[t], bounds)) candidates.push(t);
    });
    const selected = new Uint8Array(input.logprobs.length);
    for (const t of sampleWithoutReplacement(candidates, computeShare(fraction, input), seed))
      selected[t] = 1;
    return selected;
  },
  compute(input, { clipLow, clipHigh }) {
    const { selected = null } = input;
    const factors = selected && Float64Array.from(selected, (isSelected) => 1 - isSelected);
    return clippedSurrogate(input, { clip: { clipLow, clipHigh, dualClip: null }, factors });
  },
});

/** KL-Cov: ℓ = −Aρ, plus β|Δ| on the share `fraction` of the tokens with the largest c. Ties: the earlier token. */
export const klCov = definePolicyLoss({
  ...RANKED,
  name: 'klCov',
  source: 'arXiv:2505.22617',
  options: { fraction: positiveFraction(0.0002), beta: nonNegative(1) },
  selectTokens(input, { fraction }) {
    const ranking = covariances(input);
    const order = Array.from(ranking.keys()).filter((t) => input.weights[t] !== 0);
    order.sort((a, b) => ranking[b] - ranking[a] || a - b);
    const selected = new Uint8Array(ranking.length);
    for (const t of order.slice(0, computeShare(fraction, input))) selected[t] = 1;
    return selected;
  },
  compute: (input, { beta }) =>
    overTokens(input, (term, t, difference, advantage) => {
      const held = clamp(difference, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
      const penalty = input.selected?.[t] === 1 ? beta : 0;
      const surrogate = -advantage * Math.exp(held);
      term.loss = surrogate + penalty * Math.abs(difference);
      term.gradient = (held === difference ? surrogate : 0) + penalty * Math.sign(difference);
      term.clipped = Number(penalty !== 0);
    }),
});
