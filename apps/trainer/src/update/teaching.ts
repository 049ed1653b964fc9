import type { DistillationRecipe } from '@retrace/config';
import type { EvaluatedTokens, UpdateEngine } from '../engine/update-engine.js';
import type { TokenAdvantages } from './advantages.js';
import type { ReadBatch } from './read-batch.js';
import type { RolloutCorrection } from './rollout-correction.js';
import type { Teacher } from './teacher.js';
import { gather } from './token-columns.js';
import type { UpdateInputs } from './update-inputs.js';

interface UntaughtTokens {
  /** Advantages of the rewards. */
  readonly estimated: TokenAdvantages;
  /** The policy's view of the tokens at the start of the update. */
  readonly proximal: Pick<EvaluatedTokens, 'logprobs'>;
  /** [N] 1 at the tokens that the update trains. */
  readonly trained: Uint8Array;
  /** Tokens that a correction keeps; null: all. */
  readonly correction: Pick<RolloutCorrection, 'keep'> | null;
}

export interface TaughtTokens {
  readonly credit: TokenAdvantages;
  /** [A] logπ of the teacher; null without one. */
  readonly teacherLogprobs: Float32Array | null;
}

/** The teacher whose weights the engine holds. */
function engineTeacher(engine: UpdateEngine, temperature: number): Teacher {
  return {
    read: async ({ batch, mask }) =>
      gather(await engine.evaluateTeacher(batch, { temperature, mask }), batch.actionTokens),
  };
}

/**
 * Asks the recipe's teacher about the sampled tokens that are trained, and gives each its negative reverse KL as advantage: coefficient ·
 * (logπ_teacher − logπ), 0 for all others. What follows the token does not count: a discount of 0 (Agarwal et al., "On-Policy Distillation of
 * Language Models", 2024, with λ = 1 and the reverse KL; Thinking Machines, "On-Policy Distillation", 2025). Without a teacher the advantages stay as
 * they are. A token whose teacher logprob is unknown has advantage 0: no step of the recorded update gave it a weight (`RecordedTeacher`).
 */
export async function teachTokens(
  { engine, recipe, columns, ...inputs }: Pick<UpdateInputs, 'engine' | 'recipe' | 'columns' | 'teacher'>,
  { batch, sampled }: Pick<ReadBatch, 'batch' | 'sampled'>,
  { estimated, proximal, trained, correction }: UntaughtTokens,
): Promise<TaughtTokens> {
  const { distillation, collection } = recipe;
  if (!distillation) return { credit: estimated, teacherLogprobs: null };
  const { actionTokens } = batch;
  const teacher = inputs.teacher ?? engineTeacher(engine, collection.temperature);
  const keep = correction?.keep ?? null;
  const mask = sampled.map((bit, n) => bit & trained[n] & (keep?.[n] ?? 1));
  const teacherLogprobs = await teacher.read({ columns, batch, mask });
  const ofPolicy = gather(proximal.logprobs, actionTokens);
  const isKnown = actionTokens.map((n, a) => Number(mask[n] === 1 && !Number.isNaN(teacherLogprobs[a])));
  const kls = teacherLogprobs.map((logprob, a) => (isKnown[a] ? ofPolicy[a] - logprob : 0));
  const numKnown = isKnown.reduce((sum, known) => sum + known, 0);
  const meanKl = kls.reduce((sum, kl) => sum + kl, 0) / numKnown;
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
