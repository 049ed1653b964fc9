export type SamplingErrorCode = 'INVALID_ARGUMENT';

/** Base error of this library. The library is pure, so no retry helps. */
export class SamplingError extends Error {
  readonly retriable = false;

  constructor(
    readonly code: SamplingErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'SamplingError';
  }
}

/** @throws SamplingError unless `value` is a finite number ≥ 0 */
export function checkNonNegative(name: string, value: number): void {
  if (Number.isFinite(value) && value >= 0) return;
  throw new SamplingError('INVALID_ARGUMENT', `${name} is ${value}, must be a finite number ≥ 0`);
}

/** @throws SamplingError unless `value` is a whole number ≥ `least` */
export function checkCount(name: string, value: number, least = 0): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new SamplingError('INVALID_ARGUMENT', `${name} is ${value}, must be a whole number ≥ ${least}`);
}
