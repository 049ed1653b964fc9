import { choice, positive } from '../registry/index.js';
import { clippedSurrogate, ppoOptions } from './clipped-surrogate.js';
import { behaviorWeights } from './decoupled-ppo.js';
import { requireBehaviorLogprobs, definePolicyLoss, type PolicyLossInput } from './policy-loss.js';
import { LOG_RATIO_LIMIT, clamp, overTokens } from './token-loss.js';

/**
 * M2PO, second-moment trust region (arXiv:2510.01161): the tokens with the largest squared log ratio are dropped until the
 * mean of the rest is at most `threshold`.
 *
 * - `form: 'proximal'` (AReaL): the ratio is π_prox/π_b, and the kept tokens get decoupled PPO.
 * - `form: 'current'` (the paper): the ratio is π/π_b, and the kept tokens get −A·π/π_b without a clip.
 *
 * Ranks over the whole batch; `selected` marks the dropped tokens. One token is always kept, as in AReaL. Unlike there, the loss is still
 * divided by the number of all tokens: a step must not grow because tokens were dropped.
 */
export const m2po = definePolicyLoss({
  name: 'm2po',
  source: 'arXiv:2510.01161',
  scope: 'batch',
  needsBehaviorLogprobs: true,
  correctsForBehavior: true,
  options: { ...ppoOptions, form: choice('proximal', 'current'), threshold: positive(0.04) },
  selectTokens: (input, { form, threshold }) =>
    largestSecondMoments(input, form === 'proximal' ? input.proximalLogprobs : input.logprobs, threshold),
  compute(input, { form, clipLow, clipHigh, dualClip }) {
    const { selected = null } = input;
    if (form === 'proximal') {
      const factors = behaviorWeights(input).map((weight, t) => (selected?.[t] === 1 ? 0 : weight));
      return clippedSurrogate(input, { clip: { clipLow, clipHigh, dualClip }, factors });
    }
    const behavior = requireBehaviorLogprobs(input);
    return overTokens(input, (term, t, _difference, advantage) => {
      const logRatio = input.logprobs[t] - behavior[t];
      const held = clamp(logRatio, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
      const dropped = selected?.[t] === 1;
      term.loss = dropped ? 0 : -advantage * Math.exp(held);
      term.gradient = held === logRatio ? term.loss : 0;
      term.clipped = Number(dropped);
    });
  },
});

/** Marks the fewest tokens with the largest (logπ − logπ_b)² that leave a mean of at most `threshold`, or one token `[N]`. */
function largestSecondMoments(input: PolicyLossInput, logprobs: Float32Array, threshold: number): Uint8Array {
  const behavior = requireBehaviorLogprobs(input);
  const squares = logprobs.map((logprob, t) => (logprob - behavior[t]) ** 2);
  const ascending = Array.from(squares.keys()).filter((t) => input.weights[t] !== 0);
  ascending.sort((a, b) => squares[a] - squares[b] || a - b);
  const dropped = new Uint8Array(squares.length);
  let sum = 0;
  ascending.forEach((t, rank) => {
    sum += squares[t];
    // In ascending order the mean of the first tokens only grows, so once over the threshold it stays over it.
    if (rank > 0 && sum > threshold * (rank + 1)) dropped[t] = 1;
  });
  return dropped;
}
