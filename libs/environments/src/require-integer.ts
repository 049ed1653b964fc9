import { EnvironmentError } from './errors.js';

/** @throws EnvironmentError `INVALID_ARGUMENT` unless the value is an integer from `least` to `most` */
export function requireInteger(
  name: string,
  value: number,
  { least, most }: { readonly least: number; readonly most: number },
): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new EnvironmentError(
    'INVALID_ARGUMENT',
    `${name} is ${value}, must be an integer from ${least} to ${most}`,
  );
}
