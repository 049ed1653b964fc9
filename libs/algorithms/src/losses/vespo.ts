import { nonNegative, positive } from '../registry/index.js';
import { requireBehaviorLogprobs, definePolicyLoss } from './policy-loss.js';
import { overSequences } from './sequence-means.js';
import { LOG_RATIO_LIMIT, clamp, overTokens } from './token-loss.js';

/** Least log ratio of a sequence, as published. */
const LEAST_LOG_RATIO = Math.log(1e-8);

/**
 * VESPO, variational sequence-level soft policy optimisation (arXiv:2602.10693), against the policy that sampled, with
 * w = Π_t π/π_b of the whole sequence: ℓ = −sg[φ(w)]·A·logπ, φ(w) = w^k·e^{λ(1 − w)}, which is 1 on policy. k and λ by the sign of A; for A ≥ 0 the
 * positive ones. Log ratios of tokens are held in ±20, that of the sequence in [log 1e-8, 20]. Published with the aggregation `tokenMean`.
 */
export const vespo = definePolicyLoss({
  name: 'vespo',
  source: 'arXiv:2602.10693',
  scope: 'sequence',
  needsBehaviorLogprobs: true,
  correctsForBehavior: true,
  options: {
    powerPositive: nonNegative(2),
    decayPositive: positive(3),
    powerNegative: nonNegative(3),
    decayNegative: positive(2),
  },
  compute(input, { powerPositive, decayPositive, powerNegative, decayNegative }) {
    const behavior = requireBehaviorLogprobs(input);
    const logRatios = overSequences(input, 'sum', (t) =>
      clamp(input.logprobs[t] - behavior[t], -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT),
    );
    return overTokens(input, (term, t, _difference, advantage) => {
      const logRatio = clamp(logRatios[t], LEAST_LOG_RATIO, LOG_RATIO_LIMIT);
      const [power, decay] = advantage >= 0 ? [powerPositive, decayPositive] : [powerNegative, decayNegative];
      const factor = Math.exp(power * logRatio - decay * Math.expm1(logRatio));
      term.loss = -factor * advantage * input.logprobs[t];
      term.gradient = -factor * advantage;
      term.clipped = 0;
    });
  },
});
