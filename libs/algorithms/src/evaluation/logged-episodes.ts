import { checkFinite, checkGroupIds, checkLogprobs, checkOffsets, checkValues } from '../layout/check.js';

/**
 * Episodes of a behavior policy, with a candidate's logprob of each decision. A decision is an action token, or a step if its tokens
 * are taken together; rewards follow decisions.
 */
export interface LoggedEpisodes {
  /** Episodes over decisions `[E + 1]`. */
  readonly offsets: Int32Array;
  /** `[N]`. */
  readonly rewards: Float32Array;
  /** logπ of the candidate at each decision that was taken `[N]`. */
  readonly candidateLogprobs: Float32Array;
  /** logπ_b recorded when it was taken `[N]`. */
  readonly behaviorLogprobs: Float32Array;
  /**
   * Group of each episode, in [0, E) `[E]`: those of one group share task and environment seed, so they are evidence only
   * together; null: each is its own.
   */
  readonly groupIds?: Int32Array | null;
  /** Q of the candidate at each decision `[N]`, from a model fitted on *other* groups; null: no model. */
  readonly qValues?: Float32Array | null;
  /** E_π Q of the candidate in the state of each decision `[N]`, from the same model. */
  readonly stateValues?: Float32Array | null;
}

/** @throws AlgorithmError `INVALID_ARGUMENT` for arrays that do not fit or values that are not finite */
export function checkLoggedEpisodes(episodes: LoggedEpisodes): void {
  const numDecisions = episodes.rewards.length;
  checkOffsets('offsets', episodes.offsets, numDecisions);
  checkFinite({ rewards: episodes.rewards });
  checkLogprobs(
    { candidateLogprobs: episodes.candidateLogprobs, behaviorLogprobs: episodes.behaviorLogprobs },
    numDecisions,
  );
  if (episodes.groupIds) checkGroupIds('groupIds', episodes.groupIds, episodes.offsets.length - 1);
  if (episodes.qValues) checkValues({ qValues: episodes.qValues }, numDecisions);
  if (episodes.stateValues) checkValues({ stateValues: episodes.stateValues }, numDecisions);
}

/** Contribution of each episode to the estimates `[E]`. */
export interface EpisodeTerms {
  /** Σ_t γ^t r_t. */
  readonly returns: Float64Array;
  /** log Π_t ρ_t, unclamped: clipping would bias the estimate without a word. */
  readonly logWeights: Float64Array;
  /** Σ_t γ^t ρ_{0:t} r_t. */
  readonly perDecision: Float64Array;
  /** Σ_t γ^t (ρ_{0:t}(r_t − Q_t) + ρ_{0:t−1} E_π Q_t); null without a Q model. */
  readonly doublyRobust: Float64Array | null;
}

/** Goes once over the decisions. ρ_{0:t} = Π_{k≤t} π/π_b. */
export function episodeTerms(episodes: LoggedEpisodes, gamma: number): EpisodeTerms {
  const {
    offsets,
    rewards,
    candidateLogprobs,
    behaviorLogprobs,
    qValues = null,
    stateValues = null,
  } = episodes;
  const numEpisodes = offsets.length - 1;
  const returns = new Float64Array(numEpisodes);
  const logWeights = new Float64Array(numEpisodes);
  const perDecision = new Float64Array(numEpisodes);
  const doublyRobust = qValues && stateValues ? new Float64Array(numEpisodes) : null;
  for (let e = 0; e < numEpisodes; e++) {
    let discount = 1;
    let logWeight = 0;
    for (let t = offsets[e]; t < offsets[e + 1]; t++) {
      const weightBefore = Math.exp(logWeight);
      logWeight += candidateLogprobs[t] - behaviorLogprobs[t];
      const weight = Math.exp(logWeight);
      returns[e] += discount * rewards[t];
      perDecision[e] += discount * weight * rewards[t];
      if (doublyRobust && qValues && stateValues) {
        doublyRobust[e] += discount * (weight * (rewards[t] - qValues[t]) + weightBefore * stateValues[t]);
      }
      discount *= gamma;
    }
    logWeights[e] = logWeight;
  }
  return { returns, logWeights, perDecision, doublyRobust };
}
