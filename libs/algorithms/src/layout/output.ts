import { AlgorithmError } from '../errors.js';

/*
 * The system provides new arrays of megabytes page by page, which takes longer than the arithmetic on them.
 * Frequent callers can pass the arrays of an earlier call instead.
 */

/** Arrays to write results to instead of new ones. They are overwritten and may be longer than needed. */
export interface AdvantageOutput {
  readonly advantages?: Float32Array | null;
  readonly returns?: Float32Array | null;
}

/**
 * The first `length` entries of the array that is given, or a new array.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for an array that is too short
 */
export function requireOutput(
  name: string,
  given: Float32Array | null | undefined,
  length: number,
): Float32Array {
  return given ? requireFirst(name, given, length) : new Float32Array(length);
}

/** The first `length` entries of an array. @throws AlgorithmError `INVALID_ARGUMENT` for one that is too short */
export function requireFirst<T extends Float32Array | Uint8Array>(name: string, given: T, length: number): T {
  if (given.length < length) {
    throw new AlgorithmError(
      'INVALID_ARGUMENT',
      `output.${name} has ${given.length} entries, must have at least ${length}`,
    );
  }
  return given.length === length ? given : (given.subarray(0, length) as T);
}
