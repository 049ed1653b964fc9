import { getPolicyLoss } from '@retrace/algorithms';
import { requireTokenColumn, validateSequenceBatch } from '../packing/sequence-batch.js';
import type { SequenceBatch, SequenceLimits } from '../packing/sequence-batch.js';
import { PolicyError } from '../policy-error.js';
import type { LossOptions } from './loss-options.js';
import { validateTeacherTop, type TeacherTop } from '../logprobs/teacher-top.js';

/** The only list of the columns that the loss reads beside the loss weights, with the options that need each. */
const LOSS_COLUMNS = {
  advantages: ({ policyLoss }) => policyLoss !== 'crossEntropy',
  /** log π that the probability ratio is taken against; two losses have none, and report it as 1 where this is absent. */
  proximalLogprobs: ({ policyLoss }) => policyLoss !== 'crossEntropy' && policyLoss !== 'gpg',
  /**
   * How far the proximal policy is from that of `proximalLogprobs` towards the current one, in [0, 1]: its log π is interpolated, without a
   * gradient. Absent: 0.
   */
  proximalShares: () => false,
  /** log π of the policy that sampled, for losses that read it beside the proximal one. */
  behaviorLogprobs: ({ policyLoss }) => getPolicyLoss(policyLoss).needsBehaviorLogprobs,
  /** log π of the reference policy. */
  referenceLogprobs: ({ klCoefficient }) => klCoefficient !== 0,
  /** Targets of the value head. */
  returns: ({ valueCoefficient }) => valueCoefficient !== 0,
  /** V at the start of the update, the centre of the value clip. */
  proximalValues: ({ valueCoefficient, valueClip }) => valueCoefficient !== 0 && valueClip !== null,
  /** Factor ≥ 0 on the policy loss only, for example a correction for the behavior policy; without it the factor is 1. */
  importanceWeights: () => false,
} as const satisfies Readonly<Record<string, (options: LossOptions) => boolean>>;

type LossColumn = keyof typeof LOSS_COLUMNS;

const COLUMN_NAMES = Object.keys(LOSS_COLUMNS) as readonly LossColumn[];

/** All [N]. A column that the loss options don't need may be null or absent. */
export type LossColumns = Readonly<Partial<Record<LossColumn, Float32Array | null>>>;

/** Replaces the values of each column, for example by those of some tokens; absent columns become null. */
export function mapLossColumns(
  columns: LossColumns,
  map: (column: Float32Array) => Float32Array,
): Required<LossColumns> {
  const mapped = COLUMN_NAMES.map((name) => {
    const column = columns[name] ?? null;
    return [name, column && map(column)] as const;
  });
  return Object.fromEntries(mapped) as unknown as Required<LossColumns>;
}

/**
 * Sequences with the columns that the loss reads. Only tokens with a weight other than 0 are trained; the columns may
 * hold anything for the others.
 */
export interface TrainingBatch extends SequenceBatch, LossColumns {
  /**
   * [N] The loss is Σ w·ℓ, so the aggregation and its denominators are the caller's and batches add up: 1/N_action of
   * the *whole* batch for a token mean, and so on. 0 for the first token of a sequence, which nothing predicts.
   */
  readonly lossWeights: Float32Array;
  /** The likeliest ids of the teacher of a distillation; null or absent without that term. */
  readonly teacherTop?: TeacherTop | null;
}

/** @throws PolicyError `INVALID_BATCH` when the batch contradicts itself or lacks what the options need */
export function validateTrainingBatch(
  batch: TrainingBatch,
  options: LossOptions,
  limits: SequenceLimits,
): void {
  validateSequenceBatch(batch, limits);
  if (options.distillation && !batch.teacherTop) {
    throw new PolicyError(
      'INVALID_BATCH',
      'teacherTop is null; the loss option distillation needs what a teacher says of the tokens',
    );
  }
  if (batch.teacherTop) {
    const { vocabSize } = limits;
    validateTeacherTop(batch.teacherTop, { numTokens: batch.tokenIds.length, vocabSize });
  }
  requireTokenColumn('lossWeights', batch.lossWeights, batch.tokenIds.length);
  for (const column of COLUMN_NAMES) {
    const values = batch[column];
    if (values) requireTokenColumn(column, values, batch.tokenIds.length);
  }
  for (const column of COLUMN_NAMES) {
    if (!batch[column] && LOSS_COLUMNS[column](options)) {
      throw new PolicyError(
        'INVALID_BATCH',
        `${column} is null; the loss options need a value for each trained token`,
      );
    }
  }
  for (let s = 0; s < batch.sequenceOffsets.length - 1; s++) {
    const first = batch.sequenceOffsets[s];
    if (first < batch.sequenceOffsets[s + 1] && batch.lossWeights[first] !== 0) {
      throw new PolicyError(
        'INVALID_BATCH',
        `the first token of sequence ${s} has loss weight ${batch.lossWeights[first]}; nothing predicts it, so it must be 0`,
      );
    }
  }
}
