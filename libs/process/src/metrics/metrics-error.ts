export type MetricsErrorCode =
  /** The file has lines that are no metrics of Retrace, so nothing is appended to it. */
  | 'METRICS_FILE_INVALID'
  /** The address of the Prometheus endpoint can't be listened on. */
  | 'METRICS_ADDRESS_UNUSABLE';

/** Metrics could not be given to another tool. */
export class MetricsError extends Error {
  override readonly name = 'MetricsError';
  readonly retriable = false;

  constructor(
    readonly code: MetricsErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
