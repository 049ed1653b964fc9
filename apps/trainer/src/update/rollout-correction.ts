import {
  correctionMetrics,
  importanceWeights,
  rejectTokens,
  stalenessHistogram,
  type CorrectionInput,
} from '@retrace/algorithms';
import { rejectionRules, type Recipe } from '@retrace/config';
import type { TokenBatch } from '@retrace/trajectory';
import { gather, scatter, sequenceActionOffsets } from './token-columns.js';

export interface CorrectionOptions {
  readonly batch: TokenBatch;
  /** [N] 1 = an action token that the update trains. */
  readonly trained: Uint8Array;
  /** [N] logπ at the start of the update. */
  readonly proximalLogprobs: Float32Array;
  readonly policyVersionIn: number;
  readonly recipe: Recipe;
}

export interface RolloutCorrection {
  /** [N] Factor on the policy loss; null where the recipe has no importance weights. */
  readonly weights: Float32Array | null;
  /** [N] 0 at trained tokens that were rejected; null where the recipe rejects nothing. */
  readonly keep: Uint8Array | null;
  readonly metrics: readonly (readonly [string, number])[];
  readonly warnings: readonly string[];
}

/**
 * Weights and rejections of `loss.rolloutCorrection`, from ρ = π_proximal/π_behavior over the trained tokens of the whole batch,
 * and what the two policies have in common, to look at. Weights are taken before anything is rejected, as verl takes them.
 */
export function correctRollout(options: CorrectionOptions): RolloutCorrection {
  const { batch, trained, proximalLogprobs, policyVersionIn, recipe } = options;
  const positions = Int32Array.from(batch.tokenIds.keys()).filter((n) => trained[n] === 1);
  const input: CorrectionInput = {
    offsets: sequenceActionOffsets(batch, trained),
    proximalLogprobs: gather(proximalLogprobs, positions),
    behaviorLogprobs: gather(batch.behaviorLogprobs, positions),
  };
  const { importance = null, rejection, vetoBelow = null } = recipe.loss.rolloutCorrection ?? {};
  const weighed = importance && importanceWeights(input, importance);
  const rejects = (rejection ?? []).length > 0 || vetoBelow !== null;
  const rejected = rejects ? rejectTokens(input, { rules: rejectionRules(rejection), vetoBelow }) : null;
  const numTokens = batch.tokenIds.length;
  return {
    weights: weighed && scatter(weighed.weights, positions, numTokens),
    keep: rejected && Uint8Array.from(scatter(Float32Array.from(rejected.keep), positions, numTokens)),
    warnings: weighed?.warnings ?? [],
    metrics: [
      ...Object.entries(correctionMetrics(input)),
      ...(weighed
        ? ([
            ['maxRawWeight', weighed.maxRawWeight],
            ['weightEffectiveSampleFraction', weighed.effectiveSampleFraction],
            ['highFraction', weighed.highFraction],
            ['lowFraction', weighed.lowFraction],
          ] as const)
        : []),
      ...(rejected
        ? ([
            ['rejectedFraction', rejected.rejectedFraction],
            ['touchedSequenceFraction', rejected.touchedSequenceFraction],
            ['numKeptTokens', rejected.keep.reduce((sum, bit) => sum + bit, 0)],
          ] as const)
        : []),
      ...stalenessMetrics(options, positions, policyVersionIn),
    ].map(([name, value]) => [`correction/${name}`, value] as const),
  };
}

/** `stalenessN`: trained tokens that are N versions old; the last one counts all that are older. */
function stalenessMetrics(
  { batch, recipe }: CorrectionOptions,
  positions: Int32Array,
  policyVersionIn: number,
): (readonly [string, number])[] {
  const staleness = positions.map((n) => Math.max(0, policyVersionIn - batch.policyVersions[n]));
  const { maxStaleness } = recipe.collection;
  return Array.from(
    stalenessHistogram(staleness, maxStaleness),
    (count, versions) => [`staleness${String(versions)}`, count] as const,
  );
}
