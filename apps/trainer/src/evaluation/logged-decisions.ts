import { numberGroups, type LoggedEpisodes } from '@retrace/algorithms';
import type { EpisodeColumns, TokenBatch } from '@retrace/trajectory';

/** Position of the decision of a step: its action tokens are [firstToken, endToken) of the batch. */
export interface Decision {
  /** Start of the sequence that the tokens are in. */
  readonly sequenceStart: number;
  readonly firstToken: number;
  readonly endToken: number;
  readonly anchor: string | null;
  /** Place in its episode. */
  readonly step: number;
}

export interface LoggedDecisions extends LoggedEpisodes {
  readonly groupIds: Int32Array;
  /** `[N]` */
  readonly decisions: readonly Decision[];
}

/** The reward of each step of an episode; null where it is not known. */
export type StepRewards = readonly number[] | null;

interface DecisionsInput {
  readonly columns: EpisodeColumns;
  readonly batch: TokenBatch;
  /** [E] */
  readonly rewards: readonly StepRewards[];
  /** [E] 1 = left out. */
  readonly excluded: Uint8Array;
  /** logπ of the candidate at each token `[tokens]`. */
  readonly candidateLogprobs: Float32Array;
}

/**
 * Episodes as decisions, one a step: its action tokens taken together, so logprobs add up. A step without action tokens
 * is no decision; its reward goes to the decision before it, or else to the first.
 */
export function toLoggedDecisions(input: DecisionsInput): LoggedDecisions {
  const { columns, batch, rewards, excluded, candidateLogprobs } = input;
  const offsets = [0];
  const groups: string[] = [];
  const decisions: Decision[] = [];
  const decisionRewards: number[] = [];
  const candidate: number[] = [];
  const behavior: number[] = [];
  let sequence = 0;
  for (let e = 0; e < columns.episodeIds.length; e++) {
    const stepRewards = rewards[e];
    if (excluded[e] === 1 || stepRewards === null) continue;
    const first = decisions.length;
    let carried = 0;
    let next = batch.episodeActionOffsets[e];
    const end = batch.episodeActionOffsets[e + 1];
    stepRewards.forEach((reward, step) => {
      if (next === end || batch.actionStep[next] !== step) {
        if (decisions.length > first) decisionRewards[decisions.length - 1] += reward;
        else carried += reward;
        return;
      }
      const firstToken = batch.actionTokens[next];
      while (batch.sequenceOffsets[sequence + 1] <= firstToken) sequence++;
      let [candidateLogprob, behaviorLogprob] = [0, 0];
      let token = firstToken;
      for (; next < end && batch.actionStep[next] === step; next++) {
        token = batch.actionTokens[next];
        candidateLogprob += candidateLogprobs[token];
        behaviorLogprob += batch.behaviorLogprobs[token];
      }
      decisions.push({
        sequenceStart: batch.sequenceOffsets[sequence],
        firstToken,
        endToken: token + 1,
        anchor: columns.anchors[columns.stepOffsets[e] + step],
        step,
      });
      decisionRewards.push(reward + carried);
      carried = 0;
      candidate.push(candidateLogprob);
      behavior.push(behaviorLogprob);
    });
    offsets.push(decisions.length);
    groups.push(columns.groupIds[e]);
  }
  return {
    decisions,
    offsets: Int32Array.from(offsets),
    groupIds: numberGroups(groups).groupIds,
    rewards: Float32Array.from(decisionRewards),
    candidateLogprobs: Float32Array.from(candidate),
    behaviorLogprobs: Float32Array.from(behavior),
  };
}
