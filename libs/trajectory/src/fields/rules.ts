import { isUuid } from './uuid.js';
import type { Problem } from './problem.js';

/** Checks the value at the path `field`; null when it is valid. */
export type Rule = (value: unknown, field: string) => Problem | null;

/** One rule per field; a field without a rule does not compile. */
export type FieldRules<T> = { readonly [Field in keyof T]-?: Rule };

function rule(isFine: (value: unknown) => boolean, text: string): Rule {
  return (value, field) => (isFine(value) ? null : { field, value, rule: text });
}

/** ES2024's method, which Node 20 has and the ES2023 typings lack. */
type WellFormedString = string & { isWellFormed(): boolean };

const isText = (value: unknown): value is string =>
  typeof value === 'string' && (value as WellFormedString).isWellFormed();

/** Requires text that UTF-8 can encode: half a surrogate pair would be decoded as another character. */
export const text = rule(isText, 'must be text without lone surrogates');
export const nonEmptyText = rule((value) => isText(value) && value !== '', 'must be non-empty text');
export const flag = rule((value) => typeof value === 'boolean', 'must be true or false');
export const finiteNumber = rule(Number.isFinite, 'must be a finite number');
export const numberOrNaN = rule(
  (value) => typeof value === 'number' && value !== Infinity && value !== -Infinity,
  'must be a finite number, or NaN for missing',
);
export const uuid = rule((value) => typeof value === 'string' && isUuid(value), 'must be a lower-case UUID');
export const sha256 = rule(
  (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  'must be a SHA-256 in 64 lower-case hex digits',
);

export function numberAtLeast(minimum: number): Rule {
  return rule(
    (value) => Number.isFinite(value) && (value as number) >= minimum,
    `must be a finite number ≥ ${minimum}`,
  );
}

export function numberBetween(minimum: number, maximum: number): Rule {
  return rule(
    (value) => typeof value === 'number' && value >= minimum && value <= maximum,
    `must be a number from ${minimum} to ${maximum}`,
  );
}

export function integerAtLeast(minimum: number): Rule {
  return rule(
    (value) => Number.isSafeInteger(value) && (value as number) >= minimum,
    `must be an integer ≥ ${minimum}`,
  );
}

export function oneOf(...values: readonly string[]): Rule {
  return rule(
    (value) => typeof value === 'string' && values.includes(value),
    `must be one of ${values.join(', ')}`,
  );
}

export function nullable(inner: Rule): Rule {
  return (value, field) => {
    const problem = value === null ? null : inner(value, field);
    // A problem of a nested field belongs to a value that is not null.
    if (problem === null || problem.field !== field) return problem;
    return { ...problem, rule: problem.rule.replace(/^must be/, 'must be null or') };
  };
}

type TypedArrayClass = typeof Int32Array | typeof Uint8Array | typeof Float32Array | typeof Float64Array;

/** Requires exactly this class: `instanceof` takes a Node `Buffer` for a `Uint8Array`, but the codec does not. */
export function typedArray(arrayClass: TypedArrayClass): Rule {
  return rule(
    (value) => ArrayBuffer.isView(value) && value.constructor === arrayClass,
    `must be ${arrayClass.name.startsWith('I') ? 'an' : 'a'} ${arrayClass.name}`,
  );
}

export function listOf(element: Rule): Rule {
  return (value, field) => {
    if (!Array.isArray(value)) return { field, value, rule: 'must be a list' };
    for (let i = 0; i < value.length; i += 1) {
      const problem = element(value[i], '');
      if (problem !== null) return { ...problem, field: `${field}[${i}]${problem.field}` };
    }
    return null;
  };
}

/** Requires a plain object with exactly these fields: an extra field would be a schema change without a new version. */
export function objectOf<T>(rules: FieldRules<T>): Rule {
  const names = Object.keys(rules);
  const fieldRules = names.map((name) => (rules as Readonly<Record<string, Rule>>)[name]);
  return (value, field) => {
    if (!isPlainObject(value)) return { field, value, rule: 'must be an object' };
    for (let i = 0; i < names.length; i += 1) {
      // The path is built only for a problem: an event has dozens of fields, and nearly all are valid.
      const problem = fieldRules[i](value[names[i]], names[i]);
      if (problem !== null) return { ...problem, field: `${field}.${problem.field}` };
    }
    // Every field passed its rule and so exists; equal counts mean that there is no extra field.
    return countFields(value) === names.length ? null : findExtraField(value, names, field);
  };
}

/** Counts without a list of the fields, which `Object.keys` would allocate. */
function countFields(value: object): number {
  let numFields = 0;
  for (const _ in value) numFields += 1;
  return numFields;
}

function findExtraField(
  value: Record<string, unknown>,
  known: readonly string[],
  field: string,
): Problem | null {
  const extra = Object.keys(value).find((name) => !known.includes(name));
  if (extra === undefined) return null;
  const rule = 'must be absent: the schema has no such field';
  return { field: `${field}.${extra}`, value: value[extra], rule };
}

const MAX_JSON_DEPTH = 100;

/** Requires a value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export const json: Rule = (value, field) => findJsonProblem(value, field, 0);

function findJsonProblem(value: unknown, field: string, depth: number): Problem | null {
  if (depth > MAX_JSON_DEPTH) return { field, value, rule: `must be nested at most ${MAX_JSON_DEPTH} deep` };
  if (value === null || typeof value === 'boolean') return null;
  if (typeof value === 'number') return finiteNumber(value, field);
  if (typeof value === 'string') return text(value, field);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const problem = findJsonProblem(value[i], `${field}[${i}]`, depth + 1);
      if (problem !== null) return problem;
    }
    return null;
  }
  if (!isPlainObject(value)) return { field, value, rule: 'must be a JSON value' };
  for (const [name, inner] of Object.entries(value)) {
    if (name === '__proto__') return { field, value, rule: 'must be without a key "__proto__"' };
    const problem = text(name, field) ?? findJsonProblem(inner, `${field}.${name}`, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
