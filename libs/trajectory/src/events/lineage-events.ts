/** Payloads of stream `control` that say what an update was computed from. */
export interface LineagePayloads {
  UpdateTraced: UpdateTraced;
  UpdateTokensTraced: UpdateTokensTraced;
}

/**
 * The inputs of an update, as the rows of `update_inputs` show them. Written in one append with the commit of the same plan and epoch;
 * without that commit it counts for nothing.
 *
 * E episodes in the order of the plan, K optimizer steps.
 */
export interface UpdateTraced {
  readonly planId: string;
  readonly epoch: number;
  readonly updateNumber: number;
  readonly policyVersionIn: number;
  /** The runs that the episodes are of, each once. */
  readonly runIds: readonly string[];
  /** [E] into `runIds`. */
  readonly episodeRuns: Int32Array;
  /** The groups of the episodes, each once. */
  readonly groupIds: readonly string[];
  /** [E] into `groupIds`. */
  readonly episodeGroups: Int32Array;
  /** [E] */
  readonly episodeIds: readonly string[];
  /** [E] The steps firstSteps … firstSteps + numSteps − 1 were read. */
  readonly firstSteps: Int32Array;
  readonly numSteps: Int32Array;
  /** [E] `episodeDigests` of the columns that it was computed from; empty = not recorded. */
  readonly episodeDigests: readonly string[];
  /** [E] How often each epoch of optimizer steps trains it; 0: it was left out, as without a reward. */
  readonly times: Int32Array;
  /** [E] Action tokens that the loss counts: trained, and not rejected. */
  readonly numTokens: Int32Array;
  /** [E] Mean importance weight of those tokens, 1 where none is weighted; NaN without such a token. */
  readonly weights: Float32Array;
  /** [E] Of the advantages over those tokens; NaN where there is none. The deviation is that of the population. */
  readonly advantageMeans: Float32Array;
  readonly advantageDeviations: Float32Array;
  readonly advantageMins: Float32Array;
  readonly advantageMaxs: Float32Array;
  /** [K] Loss of each optimizer step, and the norm of its gradient before it is scaled down: what a replay compares. */
  readonly stepLosses: Float64Array;
  readonly stepGradientNorms: Float64Array;
}

/**
 * The tokens that each optimizer step of an update trained, with what its loss read of them, as the rows of `update_tokens` show it. Written
 * where the recipe asks for it, after the `UpdateTraced` of the same plan and epoch and in one append with it; an update of very many tokens has
 * several, in order.
 *
 * M trained tokens: a token that is trained in several optimizer steps is there once for each.
 */
export interface UpdateTokensTraced {
  readonly planId: string;
  readonly epoch: number;
  readonly updateNumber: number;
  /** Which event of the update it is, from 0. */
  readonly part: number;
  /** [M] The optimizer step, from 1, in the order of `UpdateTraced.stepLosses`. Ascending. */
  readonly optimizerSteps: Int32Array;
  /** [M] The token's episode: its place in `UpdateTraced.episodeIds`. */
  readonly episodes: Int32Array;
  /** [M] The step of the episode that sampled the token. */
  readonly steps: Int32Array;
  /** [M] Place of the token, from 0, among the tokens that the step appended. */
  readonly positions: Int32Array;
  /** [M] 1 where the loss clipped the token's policy gradient away. */
  readonly clipped: Uint8Array;
  /** [M] π/π_proximal before the step; NaN where the loss has no proximal policy. */
  readonly ratios: Float32Array;
  /** [M] NaN where the loss has none, as in imitation. */
  readonly advantages: Float32Array;
  /** [M] V of the critic before the step; NaN where the loss has no value term. */
  readonly values: Float32Array;
  /** [M] Estimated KL from the reference policy, nats: before the step where it is in the loss, at the start of the update where it is in the reward; NaN without one. */
  readonly kls: Float32Array;
  /** [M] Entropy, before the step, of the distribution that the token was chosen from, nats. */
  readonly entropies: Float32Array;
  /** [M] logπ of the recipe's teacher, which stays the same throughout the update; null without a teacher, or without a token. */
  readonly teacherLogprobs: Float32Array | null;
}
