import { cutText } from './cut-text.js';
import type { Changes } from './changes.js';
import { storableJson, storableText } from './storable-json.js';

/** A schema of the API's document, as far as those of records use it, with `nullable` for the type `null`. */
export interface RecordSchema {
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: RecordSchema;
  readonly properties?: Readonly<Record<string, RecordSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | RecordSchema;
  readonly anyOf?: readonly RecordSchema[];
}

/** Says that a value can't be made to fit: it is to be left out. */
export const IMPOSSIBLE = Symbol('impossible');

/** Fields that are fitted otherwise than by their schema, by their name. */
export type OwnFields = Readonly<Record<string, (value: unknown) => unknown>>;

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)$/;

/**
 * A value as the server takes it: what is no text where one is wanted becomes its JSON, long texts are cut, and fields with an impossible
 * value, or that nobody knows, are left out. null in a field that must have a value is one that is missing.
 *
 * @returns IMPOSSIBLE when nothing of it fits
 */
export function fitSchema(value: unknown, schema: RecordSchema, changes: Changes, path: string): unknown {
  if (value === null) return schema.nullable || schema.type === undefined ? null : IMPOSSIBLE;
  if (schema.anyOf) return schema.anyOf.some((one) => isFine(value, one)) ? value : IMPOSSIBLE;
  switch (schema.type) {
    case undefined:
      return storableJson(value, changes, path);
    case 'string':
      return fitText(value, schema, changes, path);
    case 'integer':
    case 'number':
      return fitNumber(value, schema);
    case 'boolean':
      return typeof value === 'boolean' ? value : IMPOSSIBLE;
    case 'array':
      return fitList(value, schema, changes, path);
    default:
      return fitObject(value, schema, changes, path);
  }
}

function isFine(
  value: unknown,
  { type, minimum = 0, maximum = Infinity, maxLength = 0 }: RecordSchema,
): boolean {
  if (type !== 'string')
    return Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
  return (
    typeof value === 'string' &&
    value.length <= maxLength &&
    DATE_TIME.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

function fitText(value: unknown, schema: RecordSchema, changes: Changes, path: string): unknown {
  if (schema.enum) return schema.enum.includes(value) ? value : IMPOSSIBLE;
  if (typeof value !== 'string' && schema.pattern !== undefined) return IMPOSSIBLE;
  if (typeof value !== 'string') changes.note(path, 'what was no text was written as JSON');
  const given = typeof value === 'string' ? value : JSON.stringify(storableJson(value, changes, path));
  const text = storableText(given, changes, path);
  if (text.length < (schema.minLength ?? 0)) return IMPOSSIBLE;
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(text)) return IMPOSSIBLE;
  const { maxLength = Infinity } = schema;
  // Characters are not more than UTF-16 units.
  if (text.length <= maxLength || [...text].length <= maxLength) return text;
  changes.note(path, 'it was cut');
  return cutText(text, maxLength);
}

function fitNumber(value: unknown, { type, minimum = -Infinity, maximum = Infinity }: RecordSchema): unknown {
  const isNumber = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isNumber && (value as number) >= minimum && (value as number) <= maximum ? value : IMPOSSIBLE;
}

function fitList(value: unknown, schema: RecordSchema, changes: Changes, path: string): unknown {
  const { items = {}, maxItems = Infinity } = schema;
  if (!Array.isArray(value)) return IMPOSSIBLE;
  const fitted = (value as readonly unknown[]).map((item) => fitSchema(item, items, changes, `${path}[]`));
  const isText = items.type === 'string';
  if (!isText && fitted.includes(IMPOSSIBLE)) return IMPOSSIBLE;
  const kept = fitted.filter((item) => item !== IMPOSSIBLE);
  if (kept.length < fitted.length || kept.length > maxItems)
    changes.note(path, 'a part of the list was left out');
  return kept.slice(0, maxItems);
}

function fitObject(value: unknown, schema: RecordSchema, changes: Changes, path: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return IMPOSSIBLE;
  return fitFields(value, schema, changes, path);
}

/**
 * The fields of an object as the server takes them.
 *
 * @param own fields that have a way of their own
 * @returns IMPOSSIBLE where a field that must be there can't be
 */
export function fitFields(
  value: object,
  { properties = {}, required = [], additionalProperties = false }: RecordSchema,
  changes: Changes,
  path: string,
  own: OwnFields = {},
): Record<string, unknown> | typeof IMPOSSIBLE {
  const fitted = new Map<string, unknown>();
  for (const [name, field] of Object.entries(value) as [string, unknown][]) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const at = path === '' ? name : `${path}.${name}`;
    if (field === undefined) continue;
    if (typeof schema === 'boolean') {
      changes.note(path === '' ? 'record' : path, 'an unknown field was left out');
      continue;
    }
    const fit = Object.hasOwn(own, name) ? own[name](field) : fitSchema(field, schema, changes, at);
    const isKnown = Object.hasOwn(properties, name);
    const key = isKnown ? name : makeName(name, changes, path);
    if (fit !== IMPOSSIBLE) fitted.set(key, fit);
    else if (schema.nullable && (required.includes(name) || !isKnown)) fitted.set(key, null);
    if (fit === IMPOSSIBLE && field !== null)
      changes.note(isKnown ? at : path, 'an impossible value was left out');
  }
  if (required.some((name) => !fitted.has(name))) return IMPOSSIBLE;
  return Object.fromEntries(fitted);
}

function makeName(given: string, changes: Changes, path: string): string {
  const name = storableText(given, changes, path);
  if (name !== '') return name;
  changes.note(path, 'a name was replaced');
  return '[no name]';
}
