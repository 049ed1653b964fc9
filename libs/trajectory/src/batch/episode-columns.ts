/**
 * The steps of many episodes as flat columns. The store's reader returns them and the batch builder takes them.
 *
 * Three levels, each ragged one with its own offsets (row i = [offsets[i], offsets[i + 1])):
 * episode `e` of E → its steps, rows `stepOffsets[e] … stepOffsets[e + 1]` of S → the tokens of step `s`,
 * rows `tokenOffsets[s] … tokenOffsets[s + 1]` of N. Every offsets array starts at 0 and ends at the length of the level
 * below. Episodes come in the order they were asked for; the steps of an episode in the order of their step number,
 * complete (0 … numSteps − 1).
 */
export interface EpisodeColumns {
  /** [E] UUIDs. */
  readonly episodeIds: readonly string[];
  /** [E] */
  readonly groupIds: readonly string[];
  /** [E] Reason of the seal: 0 terminated, 1 truncated, 2 abandoned (`END_REASONS`). */
  readonly endReasons: Uint8Array;
  /** [E] 1 success, 0 failure, −1 unknown. */
  readonly successes: Int8Array;
  /** [E + 1] into the step level. */
  readonly stepOffsets: Int32Array;

  /** [S] Step number inside the episode; validated to be 0, 1, 2 … */
  readonly steps: Int32Array;
  /** [S] Reward of the step; NaN = missing, which is not zero. */
  readonly rewards: Float64Array;
  /** [S] State anchors for GiGPO; null where the environment offers none. */
  readonly anchors: readonly (string | null)[];
  /** [S] 0 where the environment did not understand the action as legal; 1 also where that is unknown. */
  readonly actionValid: Uint8Array;
  /** [S] `StepRecorded.keptPrefixTokens`. */
  readonly keptPrefixTokens: Int32Array;
  /** [S] Temperature that the action was sampled at; NaN where nothing was sampled or it is unknown. */
  readonly temperatures: Float32Array;
  /** [S] 1 where the action was chosen greedily or only among the likeliest tokens (top-k, top-p), so it is no sample from the policy. */
  readonly greedy: Uint8Array;
  /** [S + 1] into the token level. */
  readonly tokenOffsets: Int32Array;

  /** [N] Tokens that the steps appended, observation tokens before action tokens. */
  readonly tokenIds: Int32Array;
  /** [N] 1 = action token. */
  readonly actionMask: Uint8Array;
  /** [N] Behavior logprobs, nats; NaN = missing. */
  readonly tokenLogprobs: Float32Array;
  /** [N] −1 = no policy of this run. */
  readonly tokenPolicyVersions: Int32Array;

  /** [E + 1] into `finalTokenIds`. */
  readonly finalTokenOffsets: Int32Array;
  /** Tokens that the final observation appended. */
  readonly finalTokenIds: Int32Array;
  /** [E] `EpisodeEnded.finalKeptPrefixTokens`. */
  readonly finalKeptPrefixTokens: Int32Array;
}

/** The reasons in the order of `EpisodeColumns.endReasons`. */
export const END_REASONS = ['terminated', 'truncated', 'abandoned'] as const;
