import { LOG_RATIO_LIMIT } from '@retrace/algorithms';

/** Numbers that a loss read of each token of a batch, all [N]; NaN, and 0 in `clipped`, at tokens that it does not train. */
export interface TokenFigures {
  /** π/π_proximal, its log held inside ±20 as in the losses; NaN where the loss has no proximal policy. */
  readonly ratios: Float32Array;
  /** V; NaN where the loss has no value term. */
  readonly values: Float32Array;
  /** Estimate of the KL against the reference policy, nats; NaN where the loss has none. */
  readonly kls: Float32Array;
  /** Nats. */
  readonly entropies: Float32Array;
  /** 1 = the loss clipped the policy gradient away. */
  readonly clipped: Uint8Array;
}

/** Figures of N tokens of which none is trained. */
export function newTokenFigures(numTokens: number): TokenFigures {
  const missing = () => new Float32Array(numTokens).fill(Number.NaN);
  return {
    ratios: missing(),
    values: missing(),
    kls: missing(),
    entropies: missing(),
    clipped: new Uint8Array(numTokens),
  };
}

/** The figures of a batch from those of its shards, in order. */
export function joinTokenFigures(shards: readonly TokenFigures[]): TokenFigures {
  const joined = newTokenFigures(shards.reduce((sum, { clipped }) => sum + clipped.length, 0));
  let from = 0;
  for (const shard of shards) {
    for (const name of ['ratios', 'values', 'kls', 'entropies'] as const) joined[name].set(shard[name], from);
    joined.clipped.set(shard.clipped, from);
    from += shard.clipped.length;
  }
  return joined;
}

/** [M] of a micro-batch. */
interface ReadFigures {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly values: Float32Array | null;
  readonly proximalLogprobs: Float32Array | null;
  readonly kls: Float32Array | null;
  readonly clipped: Uint8Array | null;
}

/** Writes what a loss read of the trained tokens of a micro-batch to the figures of its batch, where these are recorded. */
export function recordFigures(
  figures: TokenFigures | null | undefined,
  /** [M] */
  positions: Int32Array,
  { logprobs, proximalLogprobs, values, kls, entropies, clipped }: ReadFigures,
): void {
  if (!figures) return;
  positions.forEach((n, m) => {
    if (proximalLogprobs !== null) {
      const logRatio = logprobs[m] - proximalLogprobs[m];
      figures.ratios[n] = Math.exp(Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, logRatio)));
    }
    if (values !== null) figures.values[n] = values[m];
    if (kls !== null) figures.kls[n] = kls[m];
    figures.entropies[n] = entropies[m];
    if (clipped !== null) figures.clipped[n] = clipped[m];
  });
}
