import { getPolicyLoss } from '@retrace/algorithms';
import { requireTokenColumn, validateSequenceBatch } from '../packing/sequence-batch.js';
import type { SequenceBatch, SequenceLimits } from '../packing/sequence-batch.js';
import { PolicyError } from '../policy-error.js';
import type { LossOptions } from './loss-options.js';

/** What the loss reads of each token beside its weight, and which loss options need it; the only list of these columns. */
const LOSS_COLUMNS = {
  advantages: ({ policyLoss }) => policyLoss !== 'crossEntropy',
  /** log π that the probability ratio is taken against. */
  proximalLogprobs: ({ policyLoss }) => policyLoss !== 'crossEntropy',
  /** log π of the policy that sampled, where the loss reads it beside the one above. */
  behaviorLogprobs: ({ policyLoss }) => getPolicyLoss(policyLoss).needsBehaviorLogprobs,
  /** log π of the reference policy. */
  referenceLogprobs: ({ klCoefficient }) => klCoefficient !== 0,
  /** What the value head is fitted to. */
  returns: ({ valueCoefficient }) => valueCoefficient !== 0,
  /** V at the start of the update, which the value clip is around. */
  proximalValues: ({ valueCoefficient, valueClip }) => valueCoefficient !== 0 && valueClip !== null,
  /** Factor on the policy loss only, which corrects for the behavior policy; without it the factor is 1. */
  rolloutWeights: () => false,
} as const satisfies Readonly<Record<string, (options: LossOptions) => boolean>>;

type LossColumn = keyof typeof LOSS_COLUMNS;

const COLUMN_NAMES = Object.keys(LOSS_COLUMNS) as readonly LossColumn[];

/** All [N]. A column that the loss options don't need may be null or absent. */
export type LossColumns = Readonly<Partial<Record<LossColumn, Float32Array | null>>>;

/** The same columns with their values replaced, to pick some tokens out of them; null where there is none. */
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
 * Sequences and what the loss needs of each of their tokens. Only tokens with a weight other than 0 are trained; the columns may
 * hold anything elsewhere.
 */
export interface TrainingBatch extends SequenceBatch, LossColumns {
  /**
   * [N] The loss is Σ w·ℓ, so the aggregation and its denominators are the caller's and batches add up: 1/N_action of
   * the *whole* batch for a token mean, and so on. 0 for the first token of a sequence, which nothing predicts.
   */
  readonly lossWeights: Float32Array;
}

/** @throws PolicyError `INVALID_BATCH` when the batch contradicts itself or lacks what the options need */
export function validateTrainingBatch(
  batch: TrainingBatch,
  options: LossOptions,
  limits: SequenceLimits,
): void {
  validateSequenceBatch(batch, limits);
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
