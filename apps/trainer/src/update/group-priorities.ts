import type { Recipe } from '@retrace/config';
import type { BatchPlanned } from '@retrace/trajectory';
import type { EvaluatedTokens } from '../engine/update-engine.js';
import type { TokenAdvantages } from './advantages.js';
import type { ReadBatch } from './read-batch.js';
import { gather } from './token-columns.js';
import type { ChargedRewards } from './token-rewards.js';

interface ErrorInputs {
  readonly plan: Pick<BatchPlanned, 'episodeGroups' | 'groupIds'>;
  readonly read: Pick<ReadBatch, 'batch' | 'bootstrapped'>;
  /** [N] 1 = an action token that this update trains. */
  readonly trained: Uint8Array;
  readonly credit: Pick<TokenAdvantages, 'advantages'>;
  readonly charged: Pick<ChargedRewards, 'rewards'>;
  readonly proximal: Pick<EvaluatedTokens, 'values'>;
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
  const { plan, read, trained, credit } = inputs;
  const priority = sampler?.priority ?? 'absoluteAdvantage';
  if (sampler?.rule !== 'prioritized' || typeof priority !== 'string' || plan.episodeGroups === null)
    return null;
  const { gamma = 1 } = advantage.options as { readonly gamma?: number };
  const errors = priority === 'tdError' ? temporalDifferences(inputs, gamma) : credit.advantages;
  const sums = new Float64Array(plan.groupIds.length);
  const counts = new Float64Array(plan.groupIds.length);
  const { actionTokens, episodeActionOffsets } = read.batch;
  plan.episodeGroups.forEach((group, e) => {
    for (let a = episodeActionOffsets[e]; a < episodeActionOffsets[e + 1]; a++) {
      if (trained[actionTokens[a]] === 0) continue;
      sums[group] += Math.abs(errors[a]);
      counts[group] += 1;
    }
  });
  return sums.map((sum, group) => (counts[group] > 0 ? sum / counts[group] : NaN));
}

/** [A] δ = r + γ·V(next) − V at the action tokens; after the last one of an episode V is 0, or V(s_T) where the episode was cut. */
function temporalDifferences(
  { read: { batch, bootstrapped }, charged, proximal, finalValues }: ErrorInputs,
  gamma: number,
): Float32Array {
  const { actionTokens, episodeActionOffsets } = batch;
  const values = proximal.values
    ? gather(proximal.values, actionTokens)
    : new Float32Array(actionTokens.length);
  const differences = new Float32Array(actionTokens.length);
  for (let e = 0; e + 1 < episodeActionOffsets.length; e++) {
    const end = episodeActionOffsets[e + 1];
    const last = bootstrapped[e] === 1 ? (finalValues?.[e] ?? 0) : 0;
    for (let a = episodeActionOffsets[e]; a < end; a++) {
      const next = a + 1 < end ? values[a + 1] : last;
      differences[a] = charged.rewards[a] + gamma * next - values[a];
    }
  }
  return differences;
}
