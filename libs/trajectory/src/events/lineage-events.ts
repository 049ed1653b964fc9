import {
  float32s,
  float64s,
  int32s,
  integerAtLeast,
  listOf,
  nonEmptyText,
  nullable,
  type PayloadsOf,
  uint8s,
  uuid,
} from '../fields/field.js';

/** The fields of the events that say what an update was computed from. */
export const LINEAGE_EVENTS = {
  /**
   * The inputs of an update, as the rows of `update_inputs` show them. Written in one append with the commit of the same plan and epoch;
   * without that commit it counts for nothing.
   *
   * E episodes in the order of the plan, K optimizer steps.
   */
  UpdateTraced: {
    planId: uuid.in('plan_id'),
    epoch: integerAtLeast(0).in('epoch'),
    updateNumber: integerAtLeast(0).in('update_number'),
    policyVersionIn: integerAtLeast(0).in('policy_version'),
    /** The runs that the episodes are of, each once. */
    runIds: listOf(uuid),
    /** [E] into `runIds`. */
    episodeRuns: int32s,
    /** The groups of the episodes, each once. */
    groupIds: listOf(nonEmptyText),
    /** [E] into `groupIds`. */
    episodeGroups: int32s,
    /** [E] */
    episodeIds: listOf(uuid),
    /** [E] The steps firstSteps … firstSteps + numSteps − 1 were read. */
    firstSteps: int32s,
    numSteps: int32s,
    /** [E] `episodeDigests` of the columns that it was computed from; empty = not recorded. */
    episodeDigests: listOf(nonEmptyText).since(2, []),
    /** [E] How often each epoch of optimizer steps trains it; 0: it was left out, as without a reward. */
    times: int32s,
    /** [E] Action tokens that the loss counts: trained, and not rejected. */
    numTokens: int32s,
    /** [E] Mean importance weight of those tokens, 1 where none is weighted; NaN without such a token. */
    weights: float32s,
    /** [E] Of the advantages over those tokens; NaN where there is none. The deviation is that of the population. */
    advantageMeans: float32s,
    advantageDeviations: float32s,
    advantageMins: float32s,
    advantageMaxs: float32s,
    /** [K] Loss of each optimizer step, and the norm of its gradient before it is scaled down: what a replay compares. */
    stepLosses: float64s,
    stepGradientNorms: float64s,
  },

  /**
   * The tokens that each optimizer step of an update trained, with what its loss read of them, as the rows of `update_tokens` show it. Written
   * where the recipe asks for it, after the `UpdateTraced` of the same plan and epoch and in one append with it; an update of very many tokens has
   * several, in order.
   *
   * M trained tokens: a token that is trained in several optimizer steps is there once for each.
   */
  UpdateTokensTraced: {
    planId: uuid.in('plan_id'),
    epoch: integerAtLeast(0).in('epoch'),
    updateNumber: integerAtLeast(0).in('update_number'),
    /** Which event of the update it is, from 0. */
    part: integerAtLeast(0),
    /** [M] The optimizer step, from 1, in the order of `UpdateTraced.stepLosses`. Ascending. */
    optimizerSteps: int32s,
    /** [M] The token's episode: its place in `UpdateTraced.episodeIds`. */
    episodes: int32s,
    /** [M] The step of the episode that sampled the token. */
    steps: int32s,
    /** [M] Place of the token, from 0, among the tokens that the step appended. */
    positions: int32s,
    /** [M] 1 where the loss clipped the token's policy gradient away. */
    clipped: uint8s,
    /** [M] π/π_proximal before the step; NaN where the loss has no proximal policy. */
    ratios: float32s,
    /** [M] NaN where the loss has none, as in imitation. */
    advantages: float32s,
    /** [M] V of the critic before the step; NaN where the loss has no value term. */
    values: float32s,
    /** [M] Estimated KL from the reference policy, nats: before the step where it is in the loss, at the start of the update where it is in the reward; NaN without one. */
    kls: float32s,
    /** [M] Entropy, before the step, of the distribution that the token was chosen from, nats. */
    entropies: float32s,
    /** [M] logπ of the recipe's teacher, which stays the same throughout the update; null without a teacher, or without a token. */
    teacherLogprobs: nullable(float32s).since(2, null),
    /** [M·k] The teacher's k likeliest tokens where each token was chosen, those of a place together; null where the recipe compares none, or without a token. */
    teacherTopIds: nullable(int32s).since(3, null),
    /** [M·k] logπ of the teacher of those; NaN where the teacher was not asked. */
    teacherTopLogprobs: nullable(float32s).since(3, null),
  },
};

export type LineagePayloads = PayloadsOf<typeof LINEAGE_EVENTS>;
export type UpdateTraced = LineagePayloads['UpdateTraced'];
export type UpdateTokensTraced = LineagePayloads['UpdateTokensTraced'];
