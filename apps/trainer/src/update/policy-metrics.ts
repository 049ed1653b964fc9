import type { Recipe } from '@retrace/config';
import type { TokenBatch } from '@retrace/trajectory';
import type { TokenAdvantages } from './advantages.js';
import { stalestToken } from './behavior-check.js';
import type { Controllers } from './controllers.js';
import { guardMetrics, outcomeMetrics, type MetricEntries } from './metrics.js';
import type { UpdateOutcome } from './optimizer-steps.js';
import type { ProximalLogprobs } from './proximal-logprobs.js';
import type { StepGuard } from './step-guard.js';
import type { ScoredRewards } from './score-rewards.js';
import { hasKlInLoss } from './step-options.js';
import type { ChargedRewards } from './token-rewards.js';

interface StepFigures extends Omit<Controllers, 'guard'> {
  readonly outcome: UpdateOutcome;
  readonly learningRate: number;
  /** Null for updates whose steps are not guarded. */
  readonly guard: StepGuard | null;
}

/** Metrics of the optimizer steps of a policy update; NaN where one was not measured. */
export function stepMetrics(
  { loss, optimizer }: Pick<Recipe, 'loss' | 'optimizer'>,
  { outcome, learningRate, klCoefficient, entropyCoefficient, guard }: StepFigures,
): MetricEntries {
  return [
    ...outcomeMetrics(outcome, learningRate),
    ['train/valueLoss', loss.valueCoefficient > 0 ? outcome.valueLoss : Number.NaN],
    [
      'train/valueClipFraction',
      loss.valueCoefficient > 0 && loss.valueClip !== null ? outcome.valueClipFraction : Number.NaN,
    ],
    ['train/clipFraction', outcome.clipFraction],
    ['train/approximateKl', outcome.approximateKl],
    ['train/kl', hasKlInLoss({ loss }) ? outcome.kl : Number.NaN],
    ['train/klCoefficient', loss.adaptiveKl ? klCoefficient : Number.NaN],
    ['train/entropyCoefficient', loss.entropyFloor ? entropyCoefficient : Number.NaN],
    ...(guard ? guardMetrics({ optimizer }, guard) : []),
  ];
}

interface BatchFigures {
  readonly batch: TokenBatch;
  /** The version that the update starts from. */
  readonly policyVersionIn: number;
  readonly proximal: Pick<ProximalLogprobs, 'ratioMaxDeviation'>;
  readonly scored: Pick<ScoredRewards, 'totals' | 'numMissing'>;
  readonly charged: Pick<ChargedRewards, 'meanKl'>;
  readonly credit: Pick<TokenAdvantages, 'explainedVariance' | 'statistics'>;
  /** [E] How often each episode is trained; null: once. */
  readonly copies: Int32Array | null;
}

/** Metrics of the batch of a policy update; NaN where a metric was not measured. */
export function batchMetrics({
  batch,
  policyVersionIn,
  proximal,
  scored,
  charged,
  credit,
  copies,
}: BatchFigures): MetricEntries {
  return [
    ['train/ratioMaxDeviation', proximal.ratioMaxDeviation],
    ['train/stalenessMax', stalestToken(batch, policyVersionIn)],
    ['train/explainedVariance', credit.explainedVariance],
    ['train/numEpisodes', scored.totals.length],
    ['train/numDistinctEpisodes', copies ? copies.filter((count) => count > 0).length : Number.NaN],
    ['train/numActionTokens', batch.actionTokens.length],
    ['train/numMissingRewards', scored.numMissing],
    ['train/kl', charged.meanKl ?? Number.NaN],
    ...credit.statistics.map(([name, value]) => [`train/${name}`, value] as const),
  ];
}
