import { TinkerError } from './tinker-error.js';

/** An answer of the server, as it was parsed. */
export type TinkerAnswer = Readonly<Record<string, unknown>>;

/** @throws TinkerError `MALFORMED_ANSWER` unless the field is a text that is not empty */
export function requireText(answer: TinkerAnswer, field: string): string {
  const value = answer[field];
  if (typeof value === 'string' && value !== '') return value;
  throw malformed(field, 'must be a text', value);
}

/** @throws TinkerError `MALFORMED_ANSWER` unless the field is a list */
export function requireList(answer: TinkerAnswer, field: string): readonly unknown[] {
  const value = answer[field];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw malformed(field, 'must be a list', value);
}

/**
 * Reads a tensor of so many numbers.
 *
 * @throws TinkerError `MALFORMED_ANSWER` for another length, or an entry that is no number
 */
export function requireTensor(value: unknown, field: string, length: number): Float32Array {
  const data = (value as { readonly data?: unknown } | null | undefined)?.data;
  if (!Array.isArray(data) || data.length !== length) {
    const found = Array.isArray(data) ? `${data.length} numbers` : 'none';
    throw new TinkerError('MALFORMED_ANSWER', `${field}.data must have ${length} numbers, has ${found}`);
  }
  return Float32Array.from(data as readonly unknown[], (entry) => {
    if (typeof entry === 'number') return entry;
    throw malformed(`${field}.data`, 'must be numbers', entry);
  });
}

function malformed(field: string, rule: string, value: unknown): TinkerError {
  const shown = value === undefined ? 'is missing' : `is ${JSON.stringify(value).slice(0, 80)}`;
  return new TinkerError('MALFORMED_ANSWER', `${field} ${rule}, ${shown}`);
}
