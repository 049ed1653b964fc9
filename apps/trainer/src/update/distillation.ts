import type { DistillationRecipe } from '@retrace/config';
import type { DistillationTerm, TeacherTop } from '@retrace/policy';
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
  /** The teacher's likeliest tokens at the action tokens [A]; null unless the recipe asks for them. */
  readonly teacherTop: TeacherTop | null;
}

/** The teacher whose weights the engine holds. */
function engineTeacher(
  engine: UpdateEngine,
  options: { readonly temperature: number; readonly topK: number | null },
): Teacher {
  return {
    read: async ({ batch, mask }) => {
      const asked = { ...options, mask: maskOfTokens(batch, mask) };
      const { logprobs, top } = await engine.evaluateTeacher(batch, asked);
      const { actionTokens } = batch;
      return {
        logprobs: gather(logprobs, actionTokens),
        top: top && { ...top, rows: actionTokens.map((n) => top.rows[n]) },
      };
    },
  };
}

/** The term of the loss by a teacher's likeliest tokens; null where the recipe has none. */
export function distillationTerm({
  distillation,
}: Pick<UpdateInputs['recipe'], 'distillation'>): DistillationTerm | null {
  if (typeof distillation?.topK !== 'number') return null;
  const { objective = 'reverseKl', coefficient = 1 } = distillation;
  return { objective, coefficient };
}

/**
 * Asks the recipe's teacher about the sampled tokens that are trained, and gives each its negative reverse KL as advantage: coefficient ·
 * (logπ_teacher − logπ), 0 for all others. What follows the token does not count: a discount of 0 (Agarwal et al., "On-Policy Distillation of
 * Language Models", 2024, with λ = 1 and the reverse KL; Thinking Machines, "On-Policy Distillation", 2025). Without a teacher the advantages stay as
 * they are. With `topK` the advantages have nothing of the teacher, whose likeliest tokens are a term of the loss (`distillationTerm`). A token whose teacher logprob is unknown has advantage 0: no step of the recorded update gave it a weight (`RecordedTeacher`).
 */
export async function teachTokens(
  { engine, recipe, columns, ...inputs }: Pick<UpdateInputs, 'engine' | 'recipe' | 'columns' | 'teacher'>,
  { batch, advantages, proximal, trained, correction }: UntaughtTokens,
): Promise<TaughtTokens> {
  const { distillation, collection } = recipe;
  if (!distillation) return { advantages, teacherLogprobs: null, teacherTop: null };
  const { topK = null } = distillation;
  const options = { temperature: collection.temperature, topK };
  const teacher = inputs.teacher ?? engineTeacher(engine, options);
  const keep = correction?.keep ?? null;
  const mask = batch.sampled.map((bit, a) => bit & trained[a] & (keep?.[a] ?? 1));
  const { logprobs: teacherLogprobs, top: teacherTop } = await teacher.read({
    ...{ columns, batch: batch.tokens, mask },
  });
  const isKnown = mask.map((bit, a) => bit & Number(!Number.isNaN(teacherLogprobs[a])));
  const kls = teacherLogprobs.map((logprob, a) => (isKnown[a] ? proximal.logprobs[a] - logprob : 0));
  const numKnown = isKnown.reduce((sum, known) => sum + known, 0);
  const meanKl = kls.reduce((sum, kl) => sum + kl, 0) / numKnown;
  return {
    teacherLogprobs,
    teacherTop,
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
  { coefficient = 1, withReward = false, topK = null }: DistillationRecipe,
): Float32Array {
  const weight = topK === null ? coefficient : 0;
  return kls.map((kl, a) => (withReward ? ofRewards[a] : 0) - weight * kl);
}
