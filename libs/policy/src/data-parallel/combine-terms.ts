import type { LossTerms } from '../losses/loss-terms.js';

/** The terms of a whole batch from those of its shards: parts of the loss add up, means count by their tokens. */
export function combineTerms(shards: readonly LossTerms[]): LossTerms {
  const numTokens = shards.reduce((sum, terms) => sum + terms.numTokens, 0);
  const total = (key: keyof LossTerms) => shards.reduce((sum, terms) => sum + terms[key], 0);
  const mean = (key: keyof LossTerms) =>
    shards.reduce((sum, terms) => sum + terms[key] * terms.numTokens, 0) / Math.max(1, numTokens);
  return {
    loss: total('loss'),
    policyLoss: total('policyLoss'),
    valueLoss: total('valueLoss'),
    entropy: mean('entropy'),
    kl: mean('kl'),
    clipFraction: mean('clipFraction'),
    approximateKl: mean('approximateKl'),
    ratioMaxDeviation: shards.reduce((max, terms) => Math.max(max, terms.ratioMaxDeviation), 0),
    numTokens,
  };
}
