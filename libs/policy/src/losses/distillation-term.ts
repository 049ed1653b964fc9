import { topKKl, type DistillationObjective } from '@retrace/algorithms';
import type { TeacherTop } from '../logprobs/teacher-top.js';

/** How a policy is drawn to the teacher's distribution over its likeliest ids (`topKKl`). */
export interface DistillationTerm {
  readonly objective: DistillationObjective;
  readonly coefficient: number;
}

export interface DistillationTerms {
  /** Σ w·D */
  readonly loss: number;
  /** [M·k] Derivatives of coefficient · Σ w·D by the policy's logprobs of the ids. */
  readonly gradients: Float32Array;
}

/**
 * Computes Σ w·D over the M tokens of a micro-batch, D the KL of `topKKl`; a token of which nothing is known adds nothing.
 *
 * @param topLogprobs [M·k] the policy's, of `chosenIdsAt`
 * @param weights [M]
 */
export function distillationTerms(
  topLogprobs: Float32Array,
  { topK, rows, logprobs }: TeacherTop,
  {
    positions,
    weights,
    objective,
    coefficient,
  }: DistillationTerm & { readonly positions: Int32Array; readonly weights: Float32Array },
): DistillationTerms {
  const ofTeacher = topLogprobs.slice();
  positions.forEach((n, m) => {
    const row = rows[n];
    if (row >= 0) ofTeacher.set(logprobs.subarray(row * topK, (row + 1) * topK), m * topK);
  });
  const { values, gradients } = topKKl(topLogprobs, ofTeacher, { objective, topK });
  let loss = 0;
  positions.forEach((n, m) => {
    const weight = rows[n] >= 0 ? weights[m] : 0;
    loss += weight * values[m];
    for (let i = m * topK; i < (m + 1) * topK; i++) gradients[i] *= coefficient * weight;
  });
  return { loss, gradients };
}
