import {
  checkLength,
  checkLogprobs,
  checkName,
  checkPositiveInteger,
  checkResults,
} from '../layout/check.js';
import type { KlTerms } from './estimators.js';

export const DISTILLATION_OBJECTIVES = ['reverseKl', 'forwardKl'] as const;
export type DistillationObjective = (typeof DISTILLATION_OBJECTIVES)[number];

/** Least probability of the tail: below it, 1 − Σ of float32 probabilities is rounding. */
const LEAST_TAIL = 1e-5;

export interface TopKKlOptions {
  readonly objective: DistillationObjective;
  /** Tokens of the vocabulary that are known at each of the M places, k. */
  readonly topK: number;
}

/**
 * KL between a teacher π_T and a policy π over k tokens S of the vocabulary and one bucket for the others, whose probability is 1 − Σ_S:
 *
 * - `forwardKl`: Σ_S π_T (logπ_T − logπ) + tail_T (log tail_T − log tail), which covers all that the teacher may say
 * - `reverseKl`: Σ_S π (logπ − logπ_T) + tail (log tail − log tail_T), which seeks what the teacher says most
 *
 * A bucket can only hide a difference, so this is at most the KL over the whole vocabulary, and that KL where S is all of it. The gradient is by
 * logπ of each token of S, which the tail follows. A tail below 1e-5 counts as 1e-5 in logarithms and quotients, as if it were still a
 * function of the logprobs; one of the teacher adds nothing to `forwardKl`. M = 0 gives empty arrays.
 *
 * Sources: Agarwal et al., "On-Policy Distillation of Language Models", 2024 (both directions; TRL's GKD, over the whole vocabulary); verl's
 * distillation with top-k, which leaves the tail out.
 *
 * @param logprobs `[M·k]` logπ, nats, those of a place together
 * @param teacherLogprobs `[M·k]`
 * @returns values `[M]` in nats, and the derivative of each by the logprobs of its place `[M·k]`
 * @throws AlgorithmError `INVALID_ARGUMENT` for an unknown objective, for lengths that differ or are no multiple of k, and for logprobs that are not
 * finite or over 0; `OVERFLOW`
 */
export function topKKl(
  logprobs: Float32Array,
  teacherLogprobs: Float32Array,
  { objective, topK }: TopKKlOptions,
): KlTerms {
  checkName('objective', objective, DISTILLATION_OBJECTIVES);
  checkPositiveInteger({ topK });
  const numPlaces = Math.ceil(logprobs.length / topK);
  checkLength({ logprobs }, numPlaces * topK);
  checkLogprobs({ logprobs, teacherLogprobs }, logprobs.length);
  const values = new Float32Array(numPlaces);
  const gradients = new Float32Array(logprobs.length);
  const addPlace = objective === 'forwardKl' ? addForward : addReverse;
  for (let m = 0; m < numPlaces; m++) {
    const [from, end] = [m * topK, (m + 1) * topK];
    values[m] = addPlace(
      logprobs.subarray(from, end),
      teacherLogprobs.subarray(from, end),
      gradients.subarray(from, end),
    );
  }
  checkResults({ values, gradients });
  return { values, gradients };
}

/** ∂/∂logπ_i = −π_T,i + tail_T · π_i / tail */
function addForward(logprobs: Float32Array, teacher: Float32Array, gradients: Float32Array): number {
  const rest = computeTail(teacher);
  const ofTeacher = rest < LEAST_TAIL ? 0 : rest;
  const tail = Math.max(LEAST_TAIL, computeTail(logprobs));
  let sum = ofTeacher === 0 ? 0 : ofTeacher * (Math.log(ofTeacher) - Math.log(tail));
  for (let i = 0; i < logprobs.length; i++) {
    const probability = Math.exp(teacher[i]);
    sum += probability * (teacher[i] - logprobs[i]);
    gradients[i] = (ofTeacher / tail) * Math.exp(logprobs[i]) - probability;
  }
  return sum;
}

/** ∂/∂logπ_i = π_i ((logπ_i − logπ_T,i) − (log tail − log tail_T)) */
function addReverse(logprobs: Float32Array, teacher: Float32Array, gradients: Float32Array): number {
  const tail = Math.max(0, computeTail(logprobs));
  const logRatio =
    Math.log(Math.max(LEAST_TAIL, tail)) - Math.log(Math.max(LEAST_TAIL, computeTail(teacher)));
  let sum = tail * logRatio;
  for (let i = 0; i < logprobs.length; i++) {
    const probability = Math.exp(logprobs[i]);
    const d = logprobs[i] - teacher[i];
    sum += probability * d;
    gradients[i] = probability * (d - logRatio);
  }
  return sum;
}

function computeTail(logprobs: Float32Array): number {
  let rest = 1;
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes several times as long
  for (let i = 0; i < logprobs.length; i++) rest -= Math.exp(logprobs[i]);
  return rest;
}
