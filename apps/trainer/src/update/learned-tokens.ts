import type { LossColumns } from '@retrace/policy';
import { LEARNED_TOKENS_METRIC } from '@retrace/trajectory';
import type { MetricEntries } from './metrics.js';
import type { UpdateColumns } from './mini-batches.js';
import type { ScoredRewards } from './score-rewards.js';
import { countMarked } from './token-columns.js';

type LearnedColumns = Pick<UpdateColumns, 'trainedMask' | 'keptMask'> &
  Partial<Pick<LossColumns, 'advantages' | 'importanceWeights'>>;

/**
 * How many tokens an update learned from: those that it trains, that rollout correction neither rejected nor weighted 0, and whose
 * advantage is not 0. Imitation has no advantages, so there every trained token counts.
 */
export function learnedTokens(columns: LearnedColumns): {
  readonly numTrained: number;
  readonly numKept: number;
  readonly numLearned: number;
} {
  const { trainedMask, keptMask, importanceWeights, advantages } = columns;
  let [numTrained, numKept, numLearned] = [0, 0, 0];
  for (let n = 0; n < trainedMask.length; n++) {
    if (trainedMask[n] === 0) continue;
    numTrained += 1;
    if (keptMask?.[n] === 0 || importanceWeights?.[n] === 0) continue;
    numKept += 1;
    if (advantages?.[n] !== 0) numLearned += 1;
  }
  return { numTrained, numKept, numLearned };
}

export interface Learning {
  readonly metrics: MetricEntries;
  /** A sentence for the user if the update learned from no token; else null. */
  readonly alarm: string | null;
}

/** @param scored null in imitation, where rewards play no part */
export function describeLearning(
  columns: LearnedColumns,
  scored: Pick<ScoredRewards, 'totals' | 'numMissing' | 'episodesToTrain'> | null,
): Learning {
  const { numTrained, numKept, numLearned } = learnedTokens(columns);
  const metrics = [[LEARNED_TOKENS_METRIC, numLearned] as const];
  if (numLearned > 0) return { metrics, alarm: null };
  if (numTrained > 0) {
    const reason =
      numKept === 0
        ? `rollout correction rejected all ${numTrained} action tokens`
        : `the advantages of all ${numKept} action tokens are 0, as when the episodes of each group have equal rewards`;
    return { metrics, alarm: `the policy learned nothing from its rewards: ${reason}` };
  }
  const numMasked = scored ? countMarked(scored.episodesToTrain) : 0;
  if (numMasked > 0) {
    const reason = `all ${numMasked} episodes with a reward were truncated, and loss.maskTruncated leaves those out`;
    return { metrics, alarm: `nothing was trained, the policy stays as it was: ${reason}` };
  }
  const reason = scored
    ? `of ${scored.totals.length} episodes none has both a reward and action tokens to train (${scored.numMissing} without a reward)`
    : 'the demonstrations have no action tokens, or their environment failed';
  return { metrics, alarm: `nothing was trained, the policy stays as it was: ${reason}` };
}
