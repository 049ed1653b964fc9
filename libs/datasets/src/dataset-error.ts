export type DatasetErrorCode =
  /** A name, split or other option breaks its rule. */
  | 'OPTION_INVALID'
  /** A data set of this name exists; data sets never change. */
  | 'DATASET_EXISTS'
  | 'DATASET_UNKNOWN'
  /** The query's result lacks a column or has a value that is no id. */
  | 'SELECTION_INVALID'
  /** Chosen episodes can't be trained on as they were asked to be. */
  | 'NOT_TRAINABLE'
  /** No row came of the selected episodes. */
  | 'NO_ROWS'
  /** Splits share tasks, states or n-grams, and the caller wanted none of that. */
  | 'CONTAMINATED'
  /** A file of the data set differs from its manifest. */
  | 'DATASET_DAMAGED'
  /** The log has a data set of this name with another content, or a directory has one that the log does not have. */
  | 'DATASET_CONFLICT';

/** Base error of this library. An episode that gives no row is not thrown: it is counted in the report with its reason. */
export class DatasetError extends Error {
  readonly retriable = false;

  constructor(
    readonly code: DatasetErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = 'DatasetError';
  }
}
