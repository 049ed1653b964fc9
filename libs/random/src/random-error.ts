/** Thrown for arguments from which nothing can be drawn. */
export class RandomError extends RangeError {
  override readonly name = 'RandomError';
  readonly code = 'INVALID_ARGUMENT';
}
