import type { OptimizerRecipe, Recipe } from '@retrace/config';
import { LEARNED_TOKENS_METRIC, type BatchPlanned } from '@retrace/trajectory';
import type { MetricEntries } from '../../metric-entries.js';
import { countMarked } from '../action-tokens.js';
import type { TokenAdvantages } from '../advantages.js';
import type { ProximalLogprobs } from '../logprobs.js';
import { distillationTerm } from '../distillation.js';
import type { UpdateColumns } from '../loss-columns.js';
import type { UpdateBatch } from '../read-batch.js';
import type { RewardsWithKl, ScoredRewards } from '../rewards.js';
import type { UpdateOutcome } from '../steps/optimizer-steps.js';
import type { StepGuard } from '../steps/step-guard.js';
import { hasKlInLoss } from '../steps/step-options.js';
import type { Controllers } from '../trainer-state.js';

/** Metrics that updates of every stage have. */
export function outcomeMetrics(outcome: UpdateOutcome, learningRate: number): MetricEntries {
  return [
    ['train/loss', outcome.loss],
    ['train/policyLoss', outcome.policyLoss],
    ['train/entropy', outcome.entropy],
    ['train/gradientNorm', outcome.gradientNorm],
    ['train/criticGradientNorm', outcome.criticGradientNorm],
    ['train/learningRate', learningRate],
  ];
}

/** How many steps the guard skipped; empty without `optimizer.guard`. */
export function guardMetrics(
  { optimizer }: { readonly optimizer: Pick<OptimizerRecipe, 'guard'> },
  { numSkipped, isStopped }: Pick<StepGuard, 'numSkipped' | 'isStopped'>,
): MetricEntries {
  if (!optimizer.guard) return [];
  return [
    ['train/numSkippedSteps', numSkipped],
    ['train/isStoppedEarly', Number(isStopped)],
  ];
}

interface StepFigures extends Omit<Controllers, 'guard'> {
  readonly outcome: UpdateOutcome;
  readonly learningRate: number;
  /** Null for updates whose steps are not guarded. */
  readonly guard: StepGuard | null;
}

/** Metrics of the optimizer steps of a policy update; NaN where one was not measured. */
export function stepMetrics(
  { loss, optimizer, distillation }: Pick<Recipe, 'loss' | 'optimizer' | 'distillation'>,
  { outcome, learningRate, klCoefficient, entropyCoefficient, guard }: StepFigures,
): MetricEntries {
  return [
    ...outcomeMetrics(outcome, learningRate),
    ['train/valueLoss', loss.valueCoefficient > 0 ? outcome.valueLoss : Number.NaN],
    [
      'train/valueClipFraction',
      loss.valueCoefficient > 0 && typeof loss.valueClip === 'number'
        ? outcome.valueClipFraction
        : Number.NaN,
    ],
    ['train/distillationLoss', distillationTerm({ distillation }) ? outcome.distillationLoss : Number.NaN],
    ['train/clipFraction', outcome.clipFraction],
    ['train/approximateKl', outcome.approximateKl],
    ['train/kl', hasKlInLoss({ loss }) ? outcome.kl : Number.NaN],
    ['train/klCoefficient', loss.kl?.adaptive ? klCoefficient : Number.NaN],
    ['train/entropyCoefficient', loss.entropyFloor ? entropyCoefficient : Number.NaN],
    ...(guard ? guardMetrics({ optimizer }, guard) : []),
  ];
}

interface BatchFigures {
  readonly batch: Pick<UpdateBatch, 'policyVersions'>;
  /** The version that the update starts from. */
  readonly policyVersionIn: number;
  readonly proximal: Pick<ProximalLogprobs, 'ratioMaxDeviation'>;
  readonly scored: Pick<ScoredRewards, 'totals' | 'numMissing'>;
  readonly rewardsWithKl: Pick<RewardsWithKl, 'meanKl'>;
  readonly advantages: Pick<TokenAdvantages, 'explainedVariance' | 'statistics'>;
  /** [E] How often each episode is trained; null: once. */
  readonly copies: Int32Array | null;
}

/** Metrics of the batch of a policy update; NaN where a metric was not measured. */
export function batchMetrics({
  batch,
  policyVersionIn,
  proximal,
  scored,
  rewardsWithKl,
  advantages,
  copies,
}: BatchFigures): MetricEntries {
  return [
    ['train/ratioMaxDeviation', proximal.ratioMaxDeviation],
    ['train/stalenessMax', stalestToken(batch.policyVersions, policyVersionIn)],
    ['train/explainedVariance', advantages.explainedVariance],
    ['train/numEpisodes', scored.totals.length],
    ['train/numDistinctEpisodes', copies ? copies.filter((count) => count > 0).length : Number.NaN],
    ['train/numActionTokens', batch.policyVersions.length],
    ['train/numMissingRewards', scored.numMissing],
    ['train/kl', rewardsWithKl.meanKl ?? Number.NaN],
    ...advantages.statistics.map(([name, value]) => [`train/${name}`, value] as const),
  ];
}

/**
 * Largest number of versions that a token's policy is older than the one that the update starts from, among policies of this run.
 *
 * @param policyVersions [A]
 */
function stalestToken(policyVersions: Int32Array, policyVersionIn: number): number {
  return policyVersions.reduce(
    (max, version) => (version < 0 ? max : Math.max(max, policyVersionIn - version)),
    0,
  );
}

type Origins = Pick<BatchPlanned, 'groupIds' | 'groupRuns' | 'episodeGroups'>;

/** Metrics of where a batch comes from; none for plans that don't say, whose groups are all of the run itself. */
export function originMetrics({ groupIds, groupRuns, episodeGroups }: Origins): MetricEntries {
  if (episodeGroups === null) return [];
  const kept = new Set(episodeGroups);
  const numOwn = [...kept].filter((g) => (groupRuns?.[g] ?? 0) === 0).length;
  return [
    ['data/numOwnGroups', numOwn],
    ['data/numStoredGroups', kept.size - numOwn],
    ['data/numGroupsLeftOut', groupIds.length - kept.size],
  ];
}

type LearnedColumns = Pick<UpdateColumns, 'trainedMask' | 'keptMask'> &
  Partial<Pick<UpdateColumns, 'advantages' | 'importanceWeights' | 'teacherTop'>>;

/**
 * How many tokens an update learned from: those that it trains, that rollout correction neither rejected nor weighted 0, and whose
 * advantage is not 0, or of whose place the teacher's likeliest tokens are a term of the loss. Imitation has no advantages, so there every trained token counts.
 */
export function learnedTokens(columns: LearnedColumns): {
  readonly numTrained: number;
  readonly numKept: number;
  readonly numLearned: number;
} {
  const { trainedMask, keptMask, importanceWeights, advantages, teacherTop } = columns;
  let [numTrained, numKept, numLearned] = [0, 0, 0];
  for (let a = 0; a < trainedMask.length; a++) {
    if (trainedMask[a] === 0) continue;
    numTrained += 1;
    if (keptMask?.[a] === 0 || importanceWeights?.[a] === 0) continue;
    numKept += 1;
    if (advantages?.[a] !== 0 || (teacherTop?.rows[a] ?? -1) >= 0) numLearned += 1;
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
