import { EndpointError } from '../endpoint-error.js';

/** @throws EndpointError `MALFORMED_ANSWER` unless it is text */
export function textOf(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  const found = JSON.stringify(value)?.slice(0, 80) ?? 'undefined';
  throw new EndpointError('MALFORMED_ANSWER', `${field} must be text, is ${found}`);
}

/** Returns a count of tokens; null where the server gives none. */
export function countOf(value: unknown): number | null {
  return Number.isInteger(value) && (value as number) >= 0 ? (value as number) : null;
}
