import { positive } from '../registry/index.js';
import { definePolicyLoss } from './policy-loss.js';
import { LOG_RATIO_LIMIT, clamp, overTokens } from './token-loss.js';

/**
 * SAPO, soft adaptive policy optimisation (arXiv:2511.20347): a sigmoid gate in place of the clip,
 * ℓ = −A·(4/τ)·σ(τ(ρ − 1)), τ = temperaturePositive where A > 0, else temperatureNegative.
 * dℓ/dlogπ = −A·4σ(1 − σ)·ρ, which is −A on policy. Published with the aggregation `sequenceMeanTokenMean`.
 */
export const sapo = definePolicyLoss({
  name: 'sapo',
  source: 'arXiv:2511.20347',
  scope: 'token',
  needsBehaviorLogprobs: false,
  correctsForBehavior: false,
  options: { temperaturePositive: positive(1), temperatureNegative: positive(1.05) },
  compute: (input, { temperaturePositive, temperatureNegative }) =>
    overTokens(input, (term, _t, difference, advantage) => {
      const held = clamp(difference, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
      const ratio = Math.exp(held);
      const temperature = advantage > 0 ? temperaturePositive : temperatureNegative;
      const gate = 1 / (1 + Math.exp(-temperature * (ratio - 1)));
      term.loss = (-advantage * 4 * gate) / temperature;
      term.gradient = held === difference ? -advantage * 4 * gate * (1 - gate) * ratio : 0;
      term.clipped = 0;
    }),
});
