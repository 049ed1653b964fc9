import { PolicyError } from '../policy-error.js';

/** Ragged token sequences: sequence s is `tokenIds[sequenceOffsets[s] … sequenceOffsets[s + 1])`. */
export interface SequenceBatch {
  /** [N] */
  readonly tokenIds: Int32Array;
  /** [S + 1], from 0, ascending. */
  readonly sequenceOffsets: Int32Array;
}

/** The limits of a model, within which every sequence of a batch must be. */
export interface SequenceLimits {
  readonly vocabSize: number;
  readonly maxPositions: number;
}

/** @throws PolicyError `INVALID_BATCH` unless the offsets are valid, every sequence fits and every token id exists */
export function validateSequenceBatch(batch: SequenceBatch, limits: SequenceLimits): void {
  const { tokenIds, sequenceOffsets } = batch;
  const numSequences = sequenceOffsets.length - 1;
  if (numSequences < 0 || sequenceOffsets[0] !== 0 || sequenceOffsets[numSequences] !== tokenIds.length) {
    throw new PolicyError(
      'INVALID_BATCH',
      `sequenceOffsets run from ${sequenceOffsets[0]} to ${sequenceOffsets[numSequences]}; ` +
        `they must run from 0 to the number of tokens, ${tokenIds.length}`,
    );
  }
  for (let s = 0; s < numSequences; s++) {
    const length = sequenceOffsets[s + 1] - sequenceOffsets[s];
    if (length < 0 || length > limits.maxPositions) {
      throw new PolicyError(
        'INVALID_BATCH',
        `sequence ${s} has ${length} tokens; it must have between 0 and maxPositions, ${limits.maxPositions}`,
      );
    }
  }
  requireTokenIds(tokenIds, limits.vocabSize);
}

/** @throws PolicyError `INVALID_BATCH` at the first token id outside [0, vocabSize) */
export function requireTokenIds(tokenIds: Int32Array, vocabSize: number): void {
  for (let n = 0; n < tokenIds.length; n++) {
    if (tokenIds[n] < 0 || tokenIds[n] >= vocabSize) {
      throw new PolicyError(
        'INVALID_BATCH',
        `token ${n} has id ${tokenIds[n]}; ids are 0 … ${vocabSize - 1}`,
      );
    }
  }
}

/** @throws PolicyError `INVALID_BATCH` unless the column has one value per token */
export function requireTokenColumn(name: string, column: ArrayLike<number>, numTokens: number): void {
  if (column.length !== numTokens) {
    throw new PolicyError(
      'INVALID_BATCH',
      `${name} has ${column.length} values; the batch has ${numTokens} tokens`,
    );
  }
}
