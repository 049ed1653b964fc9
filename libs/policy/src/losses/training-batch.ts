import { getPolicyLoss } from '@retrace/algorithms';
import { requireTokenColumn, validateSequenceBatch } from '../packing/sequence-batch.js';
import type { SequenceBatch, SequenceLimits } from '../packing/sequence-batch.js';
import { PolicyError } from '../policy-error.js';
import type { LossOptions } from './loss-options.js';

/**
 * Sequences and what the loss needs of each of their tokens, all [N]. Only tokens with a weight other than 0 are
 * trained; the columns may hold anything elsewhere. A column that the loss options don't need may be null.
 */
export interface TrainingBatch extends SequenceBatch {
  /**
   * The loss is Σ w·ℓ, so the aggregation and its denominators are the caller's and batches add up: 1/N_action of
   * the *whole* batch for a token mean, and so on. 0 for the first token of a sequence, which nothing predicts.
   */
  readonly lossWeights: Float32Array;
  readonly advantages: Float32Array | null;
  readonly proximalLogprobs: Float32Array | null;
  /** log π of the policy that sampled, for the losses that read it; null or absent for the others. */
  readonly behaviorLogprobs?: Float32Array | null;
  readonly referenceLogprobs: Float32Array | null;
  readonly returns: Float32Array | null;
  readonly proximalValues: Float32Array | null;
  /** Factor on the policy loss alone (correction for the behavior policy); null means 1. */
  readonly rolloutWeights?: Float32Array | null;
}

type Column = Exclude<keyof TrainingBatch, 'tokenIds' | 'sequenceOffsets'>;

const COLUMNS = [
  'lossWeights',
  'advantages',
  'proximalLogprobs',
  'behaviorLogprobs',
  'referenceLogprobs',
  'returns',
  'proximalValues',
  'rolloutWeights',
] as const satisfies readonly Column[];

/** Throws `PolicyError` (`INVALID_BATCH`) when the batch contradicts itself or lacks what the options need. */
export function validateTrainingBatch(
  batch: TrainingBatch,
  options: LossOptions,
  limits: SequenceLimits,
): void {
  validateSequenceBatch(batch, limits);
  for (const column of COLUMNS) {
    const values = batch[column];
    if (values) requireTokenColumn(column, values, batch.tokenIds.length);
  }
  for (const column of neededColumns(options)) {
    if (!batch[column]) {
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

function neededColumns(options: LossOptions): Column[] {
  const needed: Column[] = [];
  if (options.policyLoss !== 'crossEntropy') needed.push('advantages', 'proximalLogprobs');
  if (getPolicyLoss(options.policyLoss).needsBehaviorLogprobs) needed.push('behaviorLogprobs');
  if (options.klCoefficient !== 0) needed.push('referenceLogprobs');
  if (options.valueCoefficient !== 0) needed.push('returns');
  if (options.valueCoefficient !== 0 && options.valueClip !== null) needed.push('proximalValues');
  return needed;
}
