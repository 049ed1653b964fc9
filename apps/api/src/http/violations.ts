import type { ValidationError } from 'class-validator';

/** One rule that one field broke. */
export interface Violation {
  /** Path of the field, `filter.limit`. */
  readonly field: string;
  /** What was given, shortened; undefined when the field is missing. */
  readonly value: unknown;
  /** The rule, as a sentence. */
  readonly rule: string;
}

const MAX_SHOWN_CHARACTERS = 200;

/** Every broken rule of a class-validator result, nested fields by their path. */
export function describeViolations(errors: readonly ValidationError[], parent = ''): Violation[] {
  return errors.flatMap((error) => {
    const field = parent === '' ? error.property : `${parent}.${error.property}`;
    const own = Object.values(error.constraints ?? {}).map((rule) => ({
      field,
      value: shorten(error.value),
      rule,
    }));
    return [...own, ...describeViolations(error.children ?? [], field)];
  });
}

function shorten(value: unknown): unknown {
  if (typeof value === 'string' && value.length > MAX_SHOWN_CHARACTERS) {
    return `${value.slice(0, MAX_SHOWN_CHARACTERS)}… (${value.length} characters)`;
  }
  return typeof value === 'object' && value !== null
    ? `a value of type ${Array.isArray(value) ? 'array' : 'object'}`
    : value;
}
