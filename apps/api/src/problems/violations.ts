import type { ValidationError } from '@retrace/validation';

/** A rule that a field of the request breaks. */
export interface Violation {
  /** Place of the record in a batch of records. */
  readonly index?: number;
  /** Path of the field, `filter.limit`. */
  readonly field: string;
  /** The value that was sent, shortened; undefined when the field is missing. */
  readonly value: unknown;
  /** The rule, as a sentence. */
  readonly rule: string;
}

const MAX_SHOWN_CHARACTERS = 200;
/** Fields whose values no error repeats. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['key']);

/** Every broken rule of a class-validator result; a nested field is named by its path. */
export function describeViolations(errors: readonly ValidationError[], parent = ''): Violation[] {
  return errors.flatMap((error) => {
    const field = parent === '' ? error.property : `${parent}.${error.property}`;
    const own = listRules(error, field).map((rule) => ({ field, value: toValue(error), rule }));
    return [...own, ...describeViolations(error.children ?? [], field)];
  });
}

/** Rules that share a message are reported once. */
function listRules({ constraints = {}, value }: ValidationError, field: string): readonly string[] {
  if ('whitelistValidation' in constraints) return [`Unknown parameter "${field}"`];
  const rules = [...new Set(Object.values(constraints))];
  return rules.length > 0 && value === undefined ? [`"${field}" is required`] : rules;
}

/** The value as a message shows it: quoted and shortened. */
export function shown(value: unknown): string {
  return JSON.stringify(shorten(value)) ?? 'nothing';
}

function toValue({ property, value }: ValidationError): unknown {
  return SECRET_FIELDS.has(property) && value !== undefined ? '(hidden)' : shorten(value);
}

export function shorten(value: unknown): unknown {
  if (typeof value === 'string' && value.length > MAX_SHOWN_CHARACTERS) {
    return `${value.slice(0, MAX_SHOWN_CHARACTERS)}… (${value.length} characters)`;
  }
  return typeof value === 'object' && value !== null
    ? `a value of type ${Array.isArray(value) ? 'array' : 'object'}`
    : value;
}
