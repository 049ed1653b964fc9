import { moreThan, nullable, positive, positiveFraction, real } from '../registry/index.js';
import { clippedSurrogate, ppoOptions } from './clipped-surrogate.js';
import { requireBehaviorLogprobs, definePolicyLoss, type PolicyLossInput } from './policy-loss.js';
import { overSequences, sequenceLogRatios } from './sequence-means.js';
import { LOG_RATIO_LIMIT, clamp, overTokens } from './token-loss.js';

/* Losses that depend on a whole sequence. */

/** Bound on the ratio of a whole sequence. */
const MAX_SEQUENCE_RATIO = Math.exp(10);

/** Keeps the logarithm of an importance weight of 0 finite, as in verl. */
const LEAST_IMPORTANCE = 1e-10;

/**
 * GSPO, group sequence policy optimisation, token form (Zheng et al., arXiv:2507.18071): the ratio of a token is
 * sg[s]·π/sg[π] with s = exp(mean_t Δ) of its sequence, in PPO's clip. Its value is s, its gradient −A·s where not clipped.
 * s is held at e^10, with no gradient beyond, as in verl and SkyRL. Published with the aggregation `sequenceMeanTokenMean`, as GMPO.
 * Under `sequenceMeanTokenSum` it is LUSPO, length-unbiased sequence policy optimisation (arXiv:2602.05261).
 */
export const gspo = definePolicyLoss({
  name: 'gspo',
  source: 'arXiv:2507.18071',
  scope: 'sequence',
  needsBehaviorLogprobs: false,
  correctsForBehavior: false,
  options: {
    clipLow: positiveFraction(0.0003),
    clipHigh: positive(0.0004),
    dualClip: nullable(moreThan(1, 3)),
  },
  compute(input, { clipLow, clipHigh, dualClip }) {
    const logRatios = sequenceLogRatios(input, input.logprobs, input.proximalLogprobs, 'mean');
    const clip = { clipLow, clipHigh, dualClip: Math.min(dualClip ?? Infinity, MAX_SEQUENCE_RATIO) };
    return clippedSurrogate(input, { clip, logRatios });
  },
});

/**
 * GMPO, geometric-mean policy optimisation (arXiv:2507.20673): Δ held in [−clipLow, clipHigh] on the side that A pushes to,
 * ρ = exp(mean of the held Δ), ℓ = −Ā·ρ with the sequence's mean advantage Ā. The loss of a sequence is repeated at each of
 * its tokens, so it is weighted by the sum of their weights, and once by the geometric mean of their importance weights.
 */
export const gmpo = definePolicyLoss({
  name: 'gmpo',
  source: 'arXiv:2507.20673',
  scope: 'sequence',
  needsBehaviorLogprobs: false,
  correctsForBehavior: false,
  options: { clipLow: positive(0.4), clipHigh: positive(0.4) },
  compute(input, { clipLow, clipHigh }) {
    const { offsets, logprobs, proximalLogprobs, advantages, weights } = input;
    const sequenceLosses = new Float64Array(logprobs.length);
    const slopes = new Float64Array(logprobs.length);
    const held = new Uint8Array(logprobs.length);
    for (let sequence = 0; sequence + 1 < offsets.length; sequence++) {
      let sumOfLogs = 0;
      let sumOfAdvantages = 0;
      let sumOfWeights = 0;
      let numTokens = 0;
      for (let t = offsets[sequence]; t < offsets[sequence + 1]; t++) {
        if (weights[t] === 0) continue;
        const sign = Math.sign(advantages[t]);
        const difference = logprobs[t] - proximalLogprobs[t];
        const pessimistic = Math.min(sign * difference, sign * clamp(difference, -clipLow, clipHigh));
        sumOfLogs += sign * pessimistic;
        held[t] = Number(pessimistic !== sign * difference || sign === 0);
        sumOfAdvantages += advantages[t];
        sumOfWeights += weights[t];
        numTokens += 1;
      }
      if (numTokens === 0) continue;
      const meanLog = clamp(sumOfLogs / numTokens, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
      const isLimited = Math.abs(meanLog) === LOG_RATIO_LIMIT;
      const loss = (-sumOfAdvantages / numTokens) * Math.exp(meanLog);
      for (let t = offsets[sequence]; t < offsets[sequence + 1]; t++) {
        sequenceLosses[t] = loss;
        // Every token's weight multiplies the one loss of the sequence, and overTokens multiplies by one of them.
        const isFlat = isLimited || held[t] === 1 || weights[t] === 0;
        slopes[t] = isFlat ? 0 : (loss / numTokens) * (sumOfWeights / weights[t]);
      }
    }
    return overTokens({ ...input, importanceWeights: geometricMeans(input) }, (term, t) => {
      term.loss = sequenceLosses[t];
      term.gradient = slopes[t];
      term.clipped = held[t];
    });
  },
});

/** Geometric mean of the importance weights of each sequence, spread over its tokens `[N]`; null where there are none. */
function geometricMeans(input: PolicyLossInput): Float32Array | null {
  const { importanceWeights = null } = input;
  if (importanceWeights === null) return null;
  const logOf = (t: number) => Math.log(importanceWeights[t] + LEAST_IMPORTANCE);
  return Float32Array.from(overSequences(input, 'mean', logOf), Math.exp);
}

/**
 * TOPR, tapered off-policy REINFORCE (Le Roux et al., arXiv:2503.14286), against the policy that sampled, with
 * w = Π_t π/π_b of the whole sequence: ℓ = −A·logπ where A ≥ 0, −sg[min(w, 1)]·A·logπ where A < 0.
 */
export const topr = definePolicyLoss({
  name: 'topr',
  source: 'arXiv:2503.14286',
  scope: 'sequence',
  needsBehaviorLogprobs: true,
  correctsForBehavior: true,
  options: {},
  compute(input) {
    const logRatios = sequenceLogRatios(input, input.logprobs, requireBehaviorLogprobs(input), 'sum');
    return overTokens(input, (term, t, _difference, advantage) => {
      const taper = advantage < 0 ? Math.min(1, Math.exp(logRatios[t])) : 1;
      term.loss = -taper * advantage * input.logprobs[t];
      term.gradient = -taper * advantage;
      term.clipped = Number(taper < 1);
    });
  },
});

/**
 * Off-policy sequence masking (DeepSeek-V3.2): PPO, but tokens with A < 0 are dropped in sequences that the policy has left
 * behind, mean_t(logπ_b − logπ) > delta.
 */
export const opsm = definePolicyLoss({
  name: 'opsm',
  source: 'DeepSeek-V3.2, off-policy sequence masking',
  scope: 'sequence',
  needsBehaviorLogprobs: true,
  correctsForBehavior: false,
  options: { ...ppoOptions, delta: real(0.1) },
  compute(input, { delta, ...clip }) {
    const behind = sequenceLogRatios(input, requireBehaviorLogprobs(input), input.logprobs, 'mean');
    const factors = behind.map((logRatio, t) => Number(input.advantages[t] >= 0 || logRatio <= delta));
    return clippedSurrogate(input, { clip, factors });
  },
});
