import type { Recipe } from '@retrace/config';
import type { BatchPlanned } from '@retrace/trajectory';
import type { EvaluatedActions } from '../action-tokens.js';
import type { TokenAdvantages } from '../advantages.js';
import type { UpdateBatch } from '../read-batch.js';
import type { RewardsWithKl } from '../rewards.js';

interface ErrorInputs {
  readonly plan: Pick<BatchPlanned, 'episodeGroups' | 'groupIds'>;
  readonly batch: Pick<UpdateBatch, 'tokens' | 'bootstrapped'>;
  /** [A] 1 = this update trains it. */
  readonly trained: Uint8Array;
  readonly advantages: Pick<TokenAdvantages, 'advantages'>;
  readonly rewardsWithKl: Pick<RewardsWithKl, 'rewards'>;
  readonly proximal: Pick<EvaluatedActions, 'values'>;
  /** [E]; null without a critic. */
  readonly finalValues: Float32Array | null;
}

/**
 * Priorities of a plan's groups for later draws: the mean absolute advantage, or TD error, over their trained tokens; NaN for groups that trained
 * nothing. Null where the recipe asks for neither.
 *
 * @returns [G]
 */
export function groupPriorities(
  { sampler, advantage }: Pick<Recipe, 'sampler' | 'advantage'>,
  inputs: ErrorInputs,
): Float64Array | null {
  const { plan, batch, trained, advantages } = inputs;
  const priority = sampler?.priority ?? 'absoluteAdvantage';
  if (sampler?.rule !== 'prioritized' || typeof priority !== 'string' || plan.episodeGroups === null)
    return null;
  const { gamma = 1 } = advantage.options as { readonly gamma?: number };
  const errors = priority === 'tdError' ? temporalDifferences(inputs, gamma) : advantages.advantages;
  const sums = new Float64Array(plan.groupIds.length);
  const counts = new Float64Array(plan.groupIds.length);
  const { episodeActionOffsets } = batch.tokens;
  plan.episodeGroups.forEach((group, e) => {
    for (let a = episodeActionOffsets[e]; a < episodeActionOffsets[e + 1]; a++) {
      if (trained[a] === 0) continue;
      sums[group] += Math.abs(errors[a]);
      counts[group] += 1;
    }
  });
  return sums.map((sum, group) => (counts[group] > 0 ? sum / counts[group] : NaN));
}

/** [A] δ = r + γ·V(next) − V at the action tokens; after the last one of an episode V is 0, or V(s_T) where the episode was cut. */
function temporalDifferences(
  { batch: { tokens, bootstrapped }, rewardsWithKl: { rewards }, proximal, finalValues }: ErrorInputs,
  gamma: number,
): Float32Array {
  const { episodeActionOffsets } = tokens;
  const values = proximal.values ?? new Float32Array(rewards.length);
  const differences = new Float32Array(rewards.length);
  for (let e = 0; e + 1 < episodeActionOffsets.length; e++) {
    const end = episodeActionOffsets[e + 1];
    const last = bootstrapped[e] === 1 ? (finalValues?.[e] ?? 0) : 0;
    for (let a = episodeActionOffsets[e]; a < end; a++) {
      const next = a + 1 < end ? values[a + 1] : last;
      differences[a] = rewards[a] + gamma * next - values[a];
    }
  }
  return differences;
}
