import type { EndReason, EpisodeEnded, StepRecorded } from '../../events/event.js';

/** What only the writer of an episode knows about its end. */
export interface EpisodeEnd {
  readonly endReason: EndReason;
  /** Why, for abandoned episodes. */
  readonly endDetail?: string;
  readonly success: boolean | null;
  readonly finalObservation: string;
  readonly finalTokenIds: Int32Array;
  readonly finalKeptPrefixTokens: number;
}

/** What a seal says about the steps, and what they must add up to. */
export type EpisodeSummary = Pick<
  EpisodeEnded,
  'numSteps' | 'return' | 'numTokens' | 'numActionTokens' | 'policyVersionMin' | 'policyVersionMax'
>;

/** What one step adds to the summary of its episode. */
export interface StepSummary {
  readonly reward: number | null;
  readonly numTokens: number;
  readonly numActionTokens: number;
  /** Over action tokens that a policy of this run sampled; −1 when there are none. */
  readonly policyVersionMin: number;
  readonly policyVersionMax: number;
}

export function summarizeStep(step: StepRecorded): StepSummary {
  const { actionMask, tokenPolicyVersions } = step;
  let numActionTokens = 0;
  let policyVersionMin = -1;
  let policyVersionMax = -1;
  for (let t = 0; t < actionMask.length; t += 1) {
    if (actionMask[t] === 0) continue;
    numActionTokens += 1;
    const version = tokenPolicyVersions[t];
    if (version < 0) continue;
    policyVersionMin = policyVersionMin < 0 ? version : Math.min(policyVersionMin, version);
    policyVersionMax = Math.max(policyVersionMax, version);
  }
  return {
    reward: step.reward,
    numTokens: actionMask.length,
    numActionTokens,
    policyVersionMin,
    policyVersionMax,
  };
}

/**
 * Adds steps up, in order: counts, range of policy versions, and the return Σ reward over the steps whose reward is not
 * missing (null when all are). No steps: zeros, return null, versions −1.
 */
export function summarizeEpisode(steps: readonly StepSummary[]): EpisodeSummary {
  const rewards = steps.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const versions = steps.filter(({ policyVersionMin }) => policyVersionMin >= 0);
  return {
    numSteps: steps.length,
    return: rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0),
    numTokens: steps.reduce((sum, { numTokens }) => sum + numTokens, 0),
    numActionTokens: steps.reduce((sum, { numActionTokens }) => sum + numActionTokens, 0),
    policyVersionMin: versions.reduce(
      (min, step) => Math.min(min, step.policyVersionMin),
      versions[0]?.policyVersionMin ?? -1,
    ),
    policyVersionMax: versions.reduce((max, step) => Math.max(max, step.policyVersionMax), -1),
  };
}

/** The payload that seals an episode with these steps, in order. */
export function sealEpisode(steps: readonly StepRecorded[], end: EpisodeEnd): EpisodeEnded {
  return { endDetail: '', ...end, ...summarizeEpisode(steps.map(summarizeStep)) };
}
