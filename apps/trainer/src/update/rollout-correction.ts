import {
  correctionMetrics,
  importanceWeights,
  rejectTokens,
  stalenessHistogram,
  type CorrectionInput,
  type ImportanceWeights,
  type Rejection,
} from '@retrace/algorithms';
import { rejectionRules, type RolloutCorrectionRecipe } from '@retrace/config';
import { countMarked, gather, offsetsOfMarked, listPositions, scatter } from './action-tokens.js';
import type { UpdateBatch } from './read-batch.js';
import type { MetricEntries } from '../metric-entries.js';

interface CorrectedTokens {
  readonly batch: Pick<UpdateBatch, 'sequenceActionOffsets' | 'behaviorLogprobs' | 'policyVersions'>;
  /** [A] 1 = this update trains it. */
  readonly trained: Uint8Array;
  /** [A] logπ at the start of the update. */
  readonly proximalLogprobs: Float32Array;
  /** The version that the update starts from. */
  readonly policyVersionIn: number;
}

interface CorrectionOptions {
  /** Null: nothing is corrected, the policies are only compared. */
  readonly rules: RolloutCorrectionRecipe | null;
  /** Largest staleness, in versions, that the recipe allows. */
  readonly maxStaleness: number;
}

export interface RolloutCorrection {
  /** [A] Factor on the policy loss, 0 where nothing is trained; null where the recipe has no importance weights. */
  readonly weights: Float32Array | null;
  /** [A] 0 at tokens that were rejected or are not trained; null where the recipe rejects nothing. */
  readonly keep: Uint8Array | null;
  readonly metrics: MetricEntries;
  readonly warnings: readonly string[];
}

/**
 * Weights and rejections of `loss.rolloutCorrection`, from ρ = π_proximal/π_behavior over the trained tokens of the whole batch,
 * and metrics that compare the two policies. Weights are taken before anything is rejected, as verl takes them.
 */
export function correctRollout(tokens: CorrectedTokens, options: CorrectionOptions): RolloutCorrection {
  const { batch, trained, proximalLogprobs } = tokens;
  const { rules, maxStaleness } = options;
  const positions = listPositions(trained);
  const input: CorrectionInput = {
    offsets: offsetsOfMarked(batch.sequenceActionOffsets, trained),
    proximalLogprobs: gather(proximalLogprobs, positions),
    behaviorLogprobs: gather(batch.behaviorLogprobs, positions),
  };
  const weighed = rules?.importance ? importanceWeights(input, rules.importance) : null;
  const rejected = rejectedTokens(input, rules);
  const metrics = [
    ...Object.entries(correctionMetrics(input)),
    ...(weighed ? weightMetrics(weighed) : []),
    ...(rejected ? rejectionMetrics(rejected) : []),
    ...stalenessMetrics(tokens, positions, maxStaleness),
  ];
  return {
    weights: weighed && scatter(weighed.weights, positions, trained.length),
    keep: rejected && Uint8Array.from(scatter(Float32Array.from(rejected.keep), positions, trained.length)),
    warnings: weighed?.warnings ?? [],
    metrics: metrics.map(([name, value]) => [`correction/${name}`, value] as const),
  };
}

/** Null where the rules reject nothing. */
function rejectedTokens(input: CorrectionInput, rules: RolloutCorrectionRecipe | null): Rejection | null {
  const { rejection, vetoBelow = null } = rules ?? {};
  const rejects = (rejection ?? []).length > 0 || vetoBelow !== null;
  return rejects ? rejectTokens(input, { rules: rejectionRules(rejection), vetoBelow }) : null;
}

function weightMetrics(weighed: ImportanceWeights): MetricEntries {
  return [
    ['maxRawWeight', weighed.maxRawWeight],
    ['weightEffectiveSampleFraction', weighed.effectiveSampleFraction],
    ['highFraction', weighed.highFraction],
    ['lowFraction', weighed.lowFraction],
  ];
}

function rejectionMetrics(rejected: Rejection): MetricEntries {
  return [
    ['rejectedFraction', rejected.rejectedFraction],
    ['touchedSequenceFraction', rejected.touchedSequenceFraction],
    ['numKeptTokens', countMarked(rejected.keep)],
  ];
}

/** `stalenessN`: trained tokens that are N versions old; the last one counts all that are older. No version of this run sampled `numForeignTokens`. */
function stalenessMetrics(
  { batch, policyVersionIn }: Pick<CorrectedTokens, 'batch' | 'policyVersionIn'>,
  positions: Int32Array,
  maxStaleness: number,
): MetricEntries {
  const own = positions.filter((a) => batch.policyVersions[a] >= 0);
  const staleness = own.map((a) => Math.max(0, policyVersionIn - batch.policyVersions[a]));
  const numForeign = positions.length - own.length;
  return [
    ...Array.from(
      stalenessHistogram(staleness, maxStaleness),
      (count, versions) => [`staleness${versions}`, count] as const,
    ),
    ...(numForeign > 0 ? [['numForeignTokens', numForeign] as const] : []),
  ];
}
