/** What `accumulate` reports. The parts of the loss are weighted sums and add up over batches; the rest are token means. */
export interface LossTerms {
  /** Σ w·ℓ, with all coefficients. */
  readonly loss: number;
  /** Σ w·ℓ_policy */
  readonly policyLoss: number;
  /** Σ w·ℓ_V, before its coefficient. */
  readonly valueLoss: number;
  /** Mean entropy of the distributions the trained tokens came from, in nats. */
  readonly entropy: number;
  /** Mean of the KL estimate against the reference policy; 0 without reference logprobs. */
  readonly kl: number;
  /** Share of trained tokens whose loss the clip decides. */
  readonly clipFraction: number;
  /** Mean of ρ − 1 − log ρ, which estimates KL(π_prox‖π). */
  readonly approximateKl: number;
  /** max |ρ − 1| */
  readonly ratioMaxDeviation: number;
  /** Tokens with a weight other than 0. */
  readonly numTokens: number;
}

/**
 * Adds up the statistics of micro-batches (7 sums, then a maximum, each). Every mean of no tokens is 0.
 */
export function combineStatistics(statistics: readonly ArrayLike<number>[], numTokens: number): LossTerms {
  const total = (index: number) => statistics.reduce((sum, values) => sum + values[index], 0);
  const mean = (index: number) => total(index) / Math.max(1, numTokens);
  return {
    loss: total(0),
    policyLoss: total(1),
    valueLoss: total(2),
    entropy: mean(3),
    kl: mean(4),
    clipFraction: mean(5),
    approximateKl: mean(6),
    ratioMaxDeviation: statistics.reduce((max, values) => Math.max(max, values[7]), 0),
    numTokens,
  };
}
