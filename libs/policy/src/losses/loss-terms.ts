/**
 * What `accumulate` reports. The parts of the loss are weighted sums and add up over batches; the others are plain
 * means over the trained tokens, 0 where there is none.
 */
export interface LossTerms {
  /** Σ w·ℓ, with all coefficients. */
  readonly loss: number;
  /** Σ w·r·ℓ_policy */
  readonly policyLoss: number;
  /** Σ w·ℓ_V, before its coefficient. */
  readonly valueLoss: number;
  /** Mean entropy of the distributions the trained tokens came from, in nats. */
  readonly entropy: number;
  /** Mean of the KL estimate against the reference policy; 0 without reference logprobs. */
  readonly kl: number;
  /** Share of trained tokens whose policy gradient the loss clipped away. */
  readonly clipFraction: number;
  /** Mean of ρ − 1 − log ρ, which estimates KL(π_prox‖π); 0 without proximal logprobs. */
  readonly approximateKl: number;
  /** max |ρ − 1|; 0 without proximal logprobs. */
  readonly ratioMaxDeviation: number;
  /** Tokens with a weight other than 0. */
  readonly numTokens: number;
}

/** Sums over the trained tokens of one micro-batch (but for the maximum), from which `LossTerms` are made. */
export interface LossSums {
  readonly loss: number;
  readonly policyLoss: number;
  readonly valueLoss: number;
  readonly entropy: number;
  readonly kl: number;
  readonly clipped: number;
  readonly divergence: number;
  readonly ratioMaxDeviation: number;
  readonly numTokens: number;
}

export function combineSums(microBatches: readonly LossSums[]): LossTerms {
  const total = (key: keyof LossSums) => microBatches.reduce((sum, sums) => sum + sums[key], 0);
  const numTokens = total('numTokens');
  const mean = (key: keyof LossSums) => total(key) / Math.max(1, numTokens);
  return {
    loss: total('loss'),
    policyLoss: total('policyLoss'),
    valueLoss: total('valueLoss'),
    entropy: mean('entropy'),
    kl: mean('kl'),
    clipFraction: mean('clipped'),
    approximateKl: mean('divergence'),
    ratioMaxDeviation: microBatches.reduce((max, sums) => Math.max(max, sums.ratioMaxDeviation), 0),
    numTokens,
  };
}
