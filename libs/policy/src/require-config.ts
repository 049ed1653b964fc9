import { PolicyError } from './policy-error.js';

/** @throws PolicyError `INVALID_CONFIG` with the name, the value and the rule that it breaks, unless the rule holds */
export function requireConfig(holds: boolean, name: string, value: unknown, rule: string): void {
  if (!holds) throw new PolicyError('INVALID_CONFIG', `${name} is ${value}; it ${rule}`);
}

/** Whether a number is finite and above 0. */
export function isPositive(value: number): boolean {
  return Number.isFinite(value) && value > 0;
}
