import { positive, positiveFraction } from '../registry/index.js';
import { definePolicyLoss } from './policy-loss.js';
import { LOG_RATIO_LIMIT, clamp, overTokens } from './token-loss.js';

/* Losses of the form −(fixed weight)·A·logπ and similar ones, whose gradient is the weight itself. */

const ON_POLICY_ONLY = { scope: 'token', needsBehaviorLogprobs: false, correctsForBehavior: false } as const;

/** Group policy gradient, plain REINFORCE (Chu et al., arXiv:2504.02546): ℓ = −A·logπ. */
export const gpgLoss = definePolicyLoss({
  ...ON_POLICY_ONLY,
  name: 'gpg',
  source: 'arXiv:2504.02546',
  options: {},
  compute: (input) =>
    overTokens(input, (term, t, _difference, advantage) => {
      term.loss = -advantage * input.logprobs[t];
      term.gradient = -advantage;
      term.clipped = 0;
    }),
});

/** Imitation: ℓ = −logπ of the expert's action. Advantages are not read. */
export const crossEntropy = definePolicyLoss({
  ...ON_POLICY_ONLY,
  name: 'crossEntropy',
  source: 'maximum likelihood',
  options: {},
  compute: (input) =>
    overTokens(input, (term, t) => {
      term.loss = -input.logprobs[t];
      term.gradient = -1;
      term.clipped = 0;
    }),
});

/**
 * CISPO (MiniMax-M1, arXiv:2506.13585): ℓ = −sg[clip(ρ, 1 − clipLow, 1 + clipHigh)]·A·logπ. Clipped tokens keep a gradient.
 * The paper has no lower bound, which is `clipLow: 1`.
 */
export const cispo = definePolicyLoss({
  ...ON_POLICY_ONLY,
  name: 'cispo',
  source: 'arXiv:2506.13585',
  options: { clipLow: positiveFraction(1), clipHigh: positive(0.2) },
  compute: (input, { clipLow, clipHigh }) =>
    overTokens(input, (term, t, difference, advantage) => {
      const ratio = Math.exp(clamp(difference, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT));
      const held = clamp(ratio, 1 - clipLow, 1 + clipHigh);
      term.loss = -held * advantage * input.logprobs[t];
      term.gradient = -held * advantage;
      term.clipped = Number(held !== ratio);
    }),
});

/** DRO (arXiv:2405.19107): ℓ = −(A·logπ − ½βΔ²), a quadratic pull toward the proximal policy. */
export const dro = definePolicyLoss({
  ...ON_POLICY_ONLY,
  name: 'dro',
  source: 'arXiv:2405.19107',
  options: { beta: positive(0.1) },
  compute: (input, { beta }) =>
    overTokens(input, (term, t, difference, advantage) => {
      term.loss = -(advantage * input.logprobs[t] - 0.5 * beta * difference * difference);
      term.gradient = -advantage + beta * difference;
      term.clipped = 0;
    }),
});

const divergenceOptions = { deltaLow: positive(0.2), deltaHigh: positive(0.2), maxRatio: positive(20) };

/**
 * DPPO with total variation (arXiv:2602.04879): ℓ = −A·sg[min(ρ, maxRatio)]·logπ, dropped where the token's probability
 * has moved too far in the direction that A pushes: π − π_prox > deltaHigh for A > 0, < −deltaLow otherwise.
 */
export const dppoTv = definePolicyLoss({
  ...ON_POLICY_ONLY,
  name: 'dppoTv',
  source: 'arXiv:2602.04879',
  options: divergenceOptions,
  compute: (input, { deltaLow, deltaHigh, maxRatio }) =>
    overTokens(input, (term, t, difference, advantage) => {
      const moved = Math.exp(input.logprobs[t]) - Math.exp(input.proximalLogprobs[t]);
      const dropped = advantage > 0 ? moved > deltaHigh : moved < -deltaLow;
      const ratio = Math.min(Math.exp(clamp(difference, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)), maxRatio);
      term.loss = dropped ? 0 : -advantage * ratio * input.logprobs[t];
      term.gradient = dropped ? 0 : -advantage * ratio;
      term.clipped = Number(dropped);
    }),
});

/** Keeps the Bernoulli KL finite where a probability is 1. */
const KL_EPSILON = 1e-8;

/**
 * DPPO with the KL of the token taken or not (arXiv:2602.04879):
 * KL = π_prox log(π_prox/π) + (1 − π_prox) log((1 − π_prox)/(1 − π)); a token is dropped where that is over deltaHigh and π
 * has grown (A > 0), or over deltaLow and π has shrunk (otherwise). Else as `dppoTv`.
 */
export const dppoKl = definePolicyLoss({
  ...ON_POLICY_ONLY,
  name: 'dppoKl',
  source: 'arXiv:2602.04879',
  options: divergenceOptions,
  compute: (input, { deltaLow, deltaHigh, maxRatio }) =>
    overTokens(input, (term, t, difference, advantage) => {
      const probability = Math.exp(input.logprobs[t]);
      const proximal = Math.exp(input.proximalLogprobs[t]);
      const others = (1 - proximal) * Math.log((1 - proximal + KL_EPSILON) / (1 - probability + KL_EPSILON));
      const kl = -proximal * difference + others;
      const dropped =
        advantage > 0 ? kl > deltaHigh && probability > proximal : kl > deltaLow && probability < proximal;
      const ratio = Math.min(Math.exp(clamp(difference, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)), maxRatio);
      term.loss = dropped ? 0 : -advantage * ratio * input.logprobs[t];
      term.gradient = dropped ? 0 : -advantage * ratio;
      term.clipped = Number(dropped);
    }),
});
