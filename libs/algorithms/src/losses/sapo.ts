import { positive } from '../registry/index.js';
import { definePolicyLoss } from './policy-loss.js';
import { overSequences, sequenceLogRatios } from './sequence-means.js';
import { LOG_RATIO_LIMIT, clamp, overTokens, type TokenTerm } from './token-loss.js';

const SAPO = {
  source: 'arXiv:2511.20347',
  needsBehaviorLogprobs: false,
  correctsForBehavior: false,
  options: { temperaturePositive: positive(1), temperatureNegative: positive(1.05) },
} as const;

interface Temperatures {
  readonly temperaturePositive: number;
  readonly temperatureNegative: number;
}

/** −A·(4/τ)·σ(τ(ρ − 1)) and its derivative by log ρ, −A·4σ(1 − σ)·ρ; τ by the sign of A. */
function softGate(
  term: TokenTerm,
  logRatio: number,
  advantage: number,
  { temperaturePositive, temperatureNegative }: Temperatures,
): void {
  const ratio = Math.exp(logRatio);
  const temperature = advantage > 0 ? temperaturePositive : temperatureNegative;
  const gate = 1 / (1 + Math.exp(-temperature * (ratio - 1)));
  term.loss = (-advantage * 4 * gate) / temperature;
  term.gradient = -advantage * 4 * gate * (1 - gate) * ratio;
  term.clipped = 0;
}

/**
 * SAPO, soft adaptive policy optimisation (arXiv:2511.20347): a sigmoid gate in place of the clip,
 * ℓ = −A·(4/τ)·σ(τ(ρ − 1)), τ = temperaturePositive where A > 0, else temperatureNegative.
 * dℓ/dlogπ = −A·4σ(1 − σ)·ρ, which is −A on policy. Published with the aggregation `sequenceMeanTokenMean`.
 */
export const sapo = definePolicyLoss({
  ...SAPO,
  name: 'sapo',
  scope: 'token',
  compute: (input, temperatures) =>
    overTokens(input, (term, _t, difference, advantage) => {
      const held = clamp(difference, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
      softGate(term, held, advantage, temperatures);
      if (held !== difference) term.gradient = 0;
    }),
});

/**
 * SAPO with one ratio a sequence, s = exp(mean_t Δ), and the sequence's mean advantage (AReaL): the gate of `sapo` on s at each of its
 * tokens, with a gradient in the token form of `gspo`.
 */
export const sapoSequence = definePolicyLoss({
  ...SAPO,
  name: 'sapoSequence',
  scope: 'sequence',
  compute(input, temperatures) {
    const logRatios = sequenceLogRatios(input, input.logprobs, input.proximalLogprobs, 'mean');
    const advantages = overSequences(input, 'mean', (t) => input.advantages[t]);
    return overTokens(input, (term, t) => {
      softGate(term, logRatios[t], advantages[t], temperatures);
      if (Math.abs(logRatios[t]) === LOG_RATIO_LIMIT) term.gradient = 0;
    });
  },
});
