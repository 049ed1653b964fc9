import { joinTokenFigures, type TokenFigures } from './token-figures.js';

/** The only list of the terms of a loss, with how each is combined over parts of a batch. */
const LOSS_TERMS = {
  /** Σ w·ℓ, with all coefficients. */
  loss: 'sum',
  /** Σ w·r·ℓ_policy */
  policyLoss: 'sum',
  /** Σ w·ℓ_V, before its coefficient. */
  valueLoss: 'sum',
  /** Σ w·r·D, the KL from the teacher before its coefficient; 0 without that term. */
  distillationLoss: 'sum',
  /** Mean entropy of the distributions the trained tokens came from, in nats. */
  entropy: 'mean',
  /** Mean of the KL estimate against the reference policy; 0 without reference logprobs. */
  kl: 'mean',
  /** Share of trained tokens whose policy gradient the loss clipped away. */
  clipFraction: 'mean',
  /** Share of trained tokens whose value loss is the clipped one; 0 without a critic or `valueClip`. */
  valueClipFraction: 'mean',
  /** Mean of ρ − 1 − log ρ, which estimates KL(π_prox‖π); 0 without proximal logprobs. */
  approximateKl: 'mean',
  /** max |ρ − 1|; 0 without proximal logprobs. */
  ratioMaxDeviation: 'max',
} as const;

type LossTerm = keyof typeof LOSS_TERMS;

/** One number for each term of a loss. */
export type LossTermValues = Readonly<Record<LossTerm, number>>;

/**
 * Terms of one batch, as `accumulate` reports them. The parts of the loss are weighted sums and add up over batches; the others
 * are plain means over the trained tokens, 0 if there are none.
 */
export interface LossTerms extends LossTermValues {
  /** Tokens with a weight other than 0. */
  readonly numTokens: number;
  /** Of each token of the batch, where `LossOptions.recordsTokens` asks for them. */
  readonly figures?: TokenFigures;
}

/** Terms of one micro-batch; those that are means in `LossTerms` are sums over the trained tokens. */
export interface LossSums extends LossTermValues {
  readonly numTokens: number;
}

/** Combines the terms of micro-batches into those of their batch. */
export function combineSums(microBatches: readonly LossSums[]): LossTerms {
  return combine(microBatches, (sums, term) => sums[term]);
}

/** Combines the terms of shards into those of their batch: parts of the loss add up, means are weighted by tokens. */
export function combineTerms(shards: readonly LossTerms[]): LossTerms {
  const terms = combine(shards, (shard, term) => shard[term] * shard.numTokens);
  const figures = shards.flatMap((shard) => shard.figures ?? []);
  return figures.length === shards.length && shards.length > 0
    ? { ...terms, figures: joinTokenFigures(figures) }
    : terms;
}

/** Averages the terms of optimizer steps, except `ratioMaxDeviation`, whose largest is taken; all NaN without a step. */
export function averageTerms(steps: readonly LossTerms[]): LossTermValues {
  return mapTerms((term) => {
    if (LOSS_TERMS[term] === 'max') return steps.length === 0 ? Number.NaN : largest(steps, term);
    return sum(steps, (terms) => terms[term]) / steps.length;
  });
}

function combine<T extends LossTerms | LossSums>(
  parts: readonly T[],
  sumOverTokens: (part: T, term: LossTerm) => number,
): LossTerms {
  const numTokens = sum(parts, (part) => part.numTokens);
  const values = mapTerms((term) => {
    switch (LOSS_TERMS[term]) {
      case 'sum':
        return sum(parts, (part) => part[term]);
      case 'mean':
        return sum(parts, (part) => sumOverTokens(part, term)) / Math.max(1, numTokens);
      case 'max':
        return largest(parts, term);
    }
  });
  return { ...values, numTokens };
}

function mapTerms(valueOf: (term: LossTerm) => number): LossTermValues {
  const terms = Object.keys(LOSS_TERMS) as LossTerm[];
  return Object.fromEntries(terms.map((term) => [term, valueOf(term)])) as unknown as LossTermValues;
}

function sum<T>(parts: readonly T[], valueOf: (part: T) => number): number {
  return parts.reduce((total, part) => total + valueOf(part), 0);
}

function largest(parts: readonly LossTermValues[], term: LossTerm): number {
  return parts.reduce((max, part) => Math.max(max, part[term]), 0);
}
