import type { PolicyLoss } from '@retrace/algorithms';
import type { OptionSchema, OptionsOf } from '@retrace/algorithms/registry';
import type * as tf from '@retrace/compute/tensorflow';
import { PolicyError } from '../../policy-error.js';

/** As `PolicyLossInput` of `@retrace/algorithms`, with the columns as float32 tensors `[N]` over action tokens. */
export interface TensorLossInput {
  /** Sequences over action tokens `[S + 1]`. */
  readonly offsets: Int32Array;
  /** logπ of the current policy: what the tape goes back to. */
  readonly logprobs: tf.Tensor;
  /** logπ of the policy at the start of this update. */
  readonly proximalLogprobs: tf.Tensor;
  readonly advantages: tf.Tensor;
  /** Of the aggregation, fixed; 0 leaves a token out. */
  readonly weights: tf.Tensor;
  /** Of the rollout correction, fixed; null: 1. A token of factor 0 still counts in means. */
  readonly importanceWeights?: tf.Tensor | null;
  /** logπ of the policy that sampled, for the losses that read it. */
  readonly behaviorLogprobs?: tf.Tensor | null;
  /** 1 for the tokens that `selectLossTokens` picked out of the whole batch, for the losses that rank over it. */
  readonly selected?: tf.Tensor | null;
}

/** ℓ of each token `[N]` as an expression that the tape can differentiate, every option given. */
export type TensorLossFormula<S extends OptionSchema> = (
  input: TensorLossInput,
  options: OptionsOf<S>,
) => tf.Tensor;

/** The factor on the loss of each token `[N]` that the importance weights make. */
export type TensorImportance = (input: TensorLossInput, importanceWeights: tf.Tensor) => tf.Tensor;

export interface TensorLoss {
  readonly name: string;
  readonly formula: TensorLossFormula<OptionSchema>;
  readonly importance: TensorImportance;
}

/** The formula of a loss of `@retrace/algorithms`, with the options that are declared there. */
export function tensorLoss<S extends OptionSchema>(
  { name }: PolicyLoss<S>,
  formula: TensorLossFormula<S>,
  importance: TensorImportance = (_input, importanceWeights) => importanceWeights,
): TensorLoss {
  return { name, formula: formula as unknown as TensorLossFormula<OptionSchema>, importance };
}

/** A column that only some losses read. @throws PolicyError `INVALID_BATCH` where it is null */
export function requireColumn(input: TensorLossInput, column: 'behaviorLogprobs' | 'selected'): tf.Tensor {
  const tensor = input[column] ?? null;
  if (tensor !== null) return tensor;
  throw new PolicyError('INVALID_BATCH', `${column} is null; the policy loss needs a value for each token`);
}
