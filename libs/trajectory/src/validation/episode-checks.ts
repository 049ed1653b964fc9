import type { EpisodePayloads, StepRecorded } from '../events/episode-events.js';
import type { StepTokenColumns } from '../events/token-columns.js';
import type { Problem } from '../fields/problem.js';
import { findLengthProblem, findVersionRangeProblem, type Checks } from './between-fields.js';
import { findTokenColumnProblem } from './token-columns.js';

/** Rules between fields of episode events. */
export const EPISODE_CHECKS: Checks<EpisodePayloads> = {
  EpisodeStarted: ({ seq, payload: { groupMember, groupSize, forkedFrom, forkedFromRunId } }) => {
    if (seq !== 0) return { field: 'seq', value: seq, rule: 'must be 0' };
    if (groupMember >= groupSize) {
      const rule = `must be < groupSize, which is ${groupSize}`;
      return { field: 'payload.groupMember', value: groupMember, rule };
    }
    if (forkedFrom !== null || forkedFromRunId === null) return null;
    return {
      field: 'payload.forkedFromRunId',
      value: forkedFromRunId,
      rule: 'must be null without forkedFrom',
    };
  },

  StepRecorded: checkStepRecorded,

  EpisodeEnded: ({ seq, payload }) => {
    const { numSteps, endReason, endDetail, numTokens, finalTokenIds } = payload;
    if (seq !== numSteps + 1)
      return { field: 'seq', value: seq, rule: `must be numSteps + 1 = ${numSteps + 1}` };
    if (endReason === 'abandoned' && endDetail === '')
      return { field: 'payload.endDetail', value: '', rule: 'must say why the episode was abandoned' };
    for (const name of ['numActionTokens', 'finalKeptPrefixTokens'] as const) {
      const rule = `must be ≤ numTokens, which is ${numTokens}`;
      if (payload[name] > numTokens) return { field: `payload.${name}`, value: payload[name], rule };
    }
    const at = finalTokenIds.findIndex((id) => id < 0);
    if (at >= 0)
      return { field: `payload.finalTokenIds[${at}]`, value: finalTokenIds[at], rule: 'must be ≥ 0' };
    return findVersionRangeProblem(payload, 'payload');
  },
};

/** The fields of a step that are checked together, or element by element. */
export type CheckedStep = StepTokenColumns &
  Pick<StepRecorded, 'step' | 'rewardNames' | 'rewardValues' | 'keptPrefixTokens' | 'logprobMode'>;

/** Finds the first broken rule between fields of a step, or among the elements of its columns; null when there is none. */
export function checkStepRecorded(event: {
  readonly seq: number;
  readonly payload: CheckedStep;
}): Problem | null {
  const { seq, payload } = event;
  const { step, rewardNames, rewardValues, keptPrefixTokens } = payload;
  if (seq !== step + 1) return { field: 'seq', value: seq, rule: `must be step + 1 = ${step + 1}` };
  if (rewardValues.length !== rewardNames.length) return findLengthProblem({ rewardValues }, { rewardNames });
  const infinite = rewardValues.findIndex((value) => value === Infinity || value === -Infinity);
  if (infinite >= 0) {
    const rule = 'must be a finite number, or NaN for missing';
    return { field: `payload.rewardValues[${infinite}]`, value: rewardValues[infinite], rule };
  }
  if (step === 0 && keptPrefixTokens !== 0) {
    const rule = 'must be 0 in step 0: there is no context to keep yet';
    return { field: 'payload.keptPrefixTokens', value: keptPrefixTokens, rule };
  }
  return findTokenColumnProblem(payload) ?? findLogprobModeProblem(payload);
}

function findLogprobModeProblem({ logprobMode, tokenLogprobs, actionMask }: CheckedStep): Problem | null {
  if (logprobMode !== 'none') return null;
  const at = tokenLogprobs.findIndex((value, t) => actionMask[t] === 1 && !Number.isNaN(value));
  if (at < 0) return null;
  const rule = 'must be NaN where actionMask is 1, because logprobMode is none';
  return { field: `payload.tokenLogprobs[${at}]`, value: tokenLogprobs[at], rule };
}
