import type { DistillationRecipe } from '@retrace/config';
import type { UpdateEngine } from '../engine/update-engine.js';
import type { Teacher } from '../teacher/teacher.js';
import { gather, maskOfTokens, type EvaluatedActions } from './action-tokens.js';
import type { TokenAdvantages } from './advantages.js';
import type { UpdateBatch } from './read-batch.js';
import type { RolloutCorrection } from './rollout-correction.js';
import type { UpdateInputs } from './update-inputs.js';

interface UntaughtTokens {
  readonly batch: Pick<UpdateBatch, 'tokens' | 'sampled'>;
  /** Advantages of the rewards. */
  readonly advantages: TokenAdvantages;
  /** The policy's view of the tokens at the start of the update. */
  readonly proximal: Pick<EvaluatedActions, 'logprobs'>;
  /** [A] 1 at the tokens that the update trains. */
  readonly trained: Uint8Array;
  /** Tokens that a correction keeps; null: all. */
  readonly correction: Pick<RolloutCorrection, 'keep'> | null;
}

export interface TaughtTokens {
  readonly advantages: TokenAdvantages;
  /** [A] logπ of the teacher; null without one. */
  readonly teacherLogprobs: Float32Array | null;
}

/** The teacher whose weights the engine holds. */
function engineTeacher(engine: UpdateEngine, temperature: number): Teacher {
  return {
    read: async ({ batch, mask }) => {
      const options = { temperature, mask: maskOfTokens(batch, mask) };
      return gather(await engine.evaluateTeacher(batch, options), batch.actionTokens);
    },
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
  { batch, advantages, proximal, trained, correction }: UntaughtTokens,
): Promise<TaughtTokens> {
  const { distillation, collection } = recipe;
  if (!distillation) return { advantages, teacherLogprobs: null };
  const teacher = inputs.teacher ?? engineTeacher(engine, collection.temperature);
  const keep = correction?.keep ?? null;
  const mask = batch.sampled.map((bit, a) => bit & trained[a] & (keep?.[a] ?? 1));
  const teacherLogprobs = await teacher.read({ columns, batch: batch.tokens, mask });
  const isKnown = mask.map((bit, a) => bit & Number(!Number.isNaN(teacherLogprobs[a])));
  const kls = teacherLogprobs.map((logprob, a) => (isKnown[a] ? proximal.logprobs[a] - logprob : 0));
  const numKnown = isKnown.reduce((sum, known) => sum + known, 0);
  const meanKl = kls.reduce((sum, kl) => sum + kl, 0) / numKnown;
  return {
    teacherLogprobs,
    advantages: {
      ...advantages,
      advantages: taughtAdvantages(advantages.advantages, kls, distillation),
      statistics: [...advantages.statistics, ['teacherKl', meanKl] as const],
    },
  };
}

/** [A] */
function taughtAdvantages(
  ofRewards: Float32Array,
  kls: Float32Array,
  { coefficient = 1, withReward = false }: DistillationRecipe,
): Float32Array {
  return kls.map((kl, a) => (withReward ? ofRewards[a] : 0) - coefficient * kl);
}
