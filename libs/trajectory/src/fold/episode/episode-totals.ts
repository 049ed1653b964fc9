import type { EpisodeEnded, StepRecorded } from '../../events/episode-events.js';

/** The fields of `EpisodeEnded` that its steps must add up to. */
export type EpisodeTotals = Pick<
  EpisodeEnded,
  'numSteps' | 'return' | 'numTokens' | 'numActionTokens' | 'policyVersionMin' | 'policyVersionMax'
>;

/** The contribution of one step; policy versions over action tokens that a policy of this run sampled, −1 when there are none. */
export type StepTotals = Pick<StepRecorded, 'reward'> & Omit<EpisodeTotals, 'numSteps' | 'return'>;

/** Counts the tokens of a step, and finds the range of its policy versions. */
export function stepTotals({ reward, actionMask, tokenPolicyVersions }: StepRecorded): StepTotals {
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
  return { reward, numTokens: actionMask.length, numActionTokens, policyVersionMin, policyVersionMax };
}

/**
 * Adds up steps, in order: counts, range of policy versions, and the return Σ reward over the steps whose reward is not
 * missing (null when all are). No steps: zeros, return null, versions −1.
 */
export function episodeTotals(steps: readonly StepTotals[]): EpisodeTotals {
  let sum: number | null = null;
  let numTokens = 0;
  let numActionTokens = 0;
  let policyVersionMin = -1;
  let policyVersionMax = -1;
  for (const step of steps) {
    if (step.reward !== null) sum = (sum ?? 0) + step.reward;
    numTokens += step.numTokens;
    numActionTokens += step.numActionTokens;
    policyVersionMax = Math.max(policyVersionMax, step.policyVersionMax);
    if (step.policyVersionMin < 0) continue;
    policyVersionMin =
      policyVersionMin < 0 ? step.policyVersionMin : Math.min(policyVersionMin, step.policyVersionMin);
  }
  return {
    numSteps: steps.length,
    return: sum,
    numTokens,
    numActionTokens,
    policyVersionMin,
    policyVersionMax,
  };
}
