import type { DistillationRecipe, Recipe } from '@retrace/config';
import type { EvaluatedTokens, UpdateEngine } from '../engine/update-engine.js';
import type { TokenAdvantages } from './advantages.js';
import type { ReadBatch } from './read-batch.js';
import { gather } from './token-columns.js';

interface UntaughtTokens {
  /** Advantages of the rewards. */
  readonly estimated: TokenAdvantages;
  /** The policy's view of the tokens at the start of the update. */
  readonly proximal: Pick<EvaluatedTokens, 'logprobs'>;
}

export interface TaughtTokens {
  readonly credit: TokenAdvantages;
  /** [A] logπ of the teacher; null without one. */
  readonly teacherLogprobs: Float32Array | null;
}

/**
 * Asks the recipe's teacher about the sampled tokens, and gives each its negative reverse KL as advantage: coefficient · (logπ_teacher − logπ), 0 where
 * no policy sampled. What follows the token does not count: a discount of 0 (Agarwal et al., "On-Policy Distillation of Language Models", 2024, with
 * λ = 1 and the reverse KL; Thinking Machines, "On-Policy Distillation", 2025). Without a teacher the credit stays as it is.
 */
export async function teachTokens(
  engine: UpdateEngine,
  { distillation, collection: { temperature } }: Pick<Recipe, 'distillation' | 'collection'>,
  { batch, sampled }: Pick<ReadBatch, 'batch' | 'sampled'>,
  { estimated, proximal }: UntaughtTokens,
): Promise<TaughtTokens> {
  if (!distillation) return { credit: estimated, teacherLogprobs: null };
  const { actionTokens } = batch;
  const ofAll = await engine.evaluateTeacher(batch, { temperature, mask: sampled });
  const teacherLogprobs = gather(ofAll, actionTokens);
  const ofPolicy = gather(proximal.logprobs, actionTokens);
  const kls = teacherLogprobs.map((logprob, a) => (sampled[actionTokens[a]] ? ofPolicy[a] - logprob : 0));
  const numSampled = actionTokens.reduce((sum, n) => sum + sampled[n], 0);
  const meanKl = kls.reduce((sum, kl) => sum + kl, 0) / numSampled;
  const credit = {
    ...estimated,
    advantages: taughtAdvantages(estimated.advantages, kls, distillation),
    statistics: [...estimated.statistics, ['teacherKl', meanKl] as const],
  };
  return { credit, teacherLogprobs };
}

/** [A] */
function taughtAdvantages(
  ofRewards: Float32Array,
  kls: Float32Array,
  { coefficient = 1, withReward = false }: DistillationRecipe,
): Float32Array {
  return kls.map((kl, a) => (withReward ? ofRewards[a] : 0) - coefficient * kl);
}
