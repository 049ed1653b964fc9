import { parseJson } from '@retrace/rows';
import { isJsonObject, type Json } from '@retrace/trajectory';
import { RowFault } from './skip.js';

/** A JSON object of unknown content. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is missing: undefined or null. */
export function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** @throws RowFault `WRONG_TYPE` */
export function asFields(value: unknown, name: string): Fields {
  if (isJsonObject(value)) return value;
  throw wrongType(name, 'an object', value);
}

/** @throws RowFault `FIELD_MISSING`, `WRONG_TYPE` */
export function asList(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw isMissing(value) ? missing(name) : wrongType(name, 'a list', value);
}

/** @throws RowFault `FIELD_MISSING`, `WRONG_TYPE` */
export function asText(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw isMissing(value) ? missing(name) : wrongType(name, 'a text', value);
}

/** Returns a text, or '' where it is missing. @throws RowFault `WRONG_TYPE` */
export function textOrNone(value: unknown, name: string): string {
  return isMissing(value) ? '' : asText(value, name);
}

/** Returns a finite number, or null where there is none: missing, NaN and infinite are not zero. @throws RowFault `WRONG_TYPE` */
export function numberOrNull(value: unknown, name: string): number | null {
  if (isMissing(value)) return null;
  // The reader of rows gives an integer beyond 2^53 as a text.
  if (typeof value === 'string' && /^-?\d{16,}$/.test(value)) return Number(value);
  if (typeof value !== 'number') throw wrongType(name, 'a number', value);
  return Number.isFinite(value) ? value : null;
}

/** Returns a list of integers; null where it is missing or empty. @throws RowFault `WRONG_TYPE` */
export function integersOrNull(value: unknown, name: string): readonly number[] | null {
  if (isMissing(value)) return null;
  const list = asList(value, name);
  if (list.length === 0) return null;
  const bad = list.find((item) => !Number.isInteger(item));
  if (bad !== undefined) throw wrongType(name, 'a list of integers', bad);
  return list as readonly number[];
}

/** Returns a number if there is one in a number or in a text, else undefined; for sources that write numbers as texts. */
export function looseNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Returns the text if it is a non-empty one, else undefined. */
export function looseText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Parses JSON in a text; what is no JSON stays a text, and what is no text stays as it is. */
export function looseJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}

/** Leaves out the fields that are undefined, so that "unknown" is an absent field. */
export function known<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** Presents a parsed value as JSON; rows come out of JSON or are made plain by the reader. */
export function json(value: unknown): Json {
  return value as Json;
}

function missing(name: string): RowFault {
  return new RowFault('FIELD_MISSING', `"${name}" is missing`);
}

function wrongType(name: string, wanted: string, value: unknown): RowFault {
  const given = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return new RowFault('WRONG_TYPE', `"${name}" must be ${wanted}, not ${given}`);
}
