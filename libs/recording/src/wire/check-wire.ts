import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { describeProblem, isJsonObject } from '@retrace/trajectory';
import { RecordingError, type RecordFault } from '../recording-error.js';
import type { Schema } from './schema.js';
import { RECORD_SCHEMAS, WIRE_TYPES, type WireRecord, type WireType } from './wire-records.js';

/** ISO 8601 with a zone; whether such a day exists is asked of `Date`. */
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)$/;

export function isDateTime(value: string): boolean {
  return DATE_TIME.test(value) && !Number.isNaN(Date.parse(value));
}

let compiler: Ajv | null = null;

/** The check of a schema; compiled when it is first asked for, since that takes longer than to load everything else here. */
function compileCheck<T>(schema: Schema<T>): ValidateFunction<T> {
  if (compiler === null) {
    compiler = new Ajv({ verbose: true, strict: true, strictTypes: false });
    compiler.addVocabulary(['x-rule']);
    compiler.addFormat('date-time', isDateTime);
  }
  // It keeps what it compiled, by schema.
  return compiler.compile<T>(schema);
}

/** @throws RecordingError `INVALID_RECORDS` naming index, field, value and rule of the first fault */
export function checkRecord(value: unknown, index: number): WireRecord {
  const type = (value as { readonly type?: unknown } | null | undefined)?.type;
  if (!isJsonObject(value)) throw invalid({ index, field: '', value, rule: 'must be an object' });
  if (typeof type !== 'string' || !Object.hasOwn(RECORD_SCHEMAS, type))
    throw invalid({ index, field: 'type', value: type, rule: `must be one of ${WIRE_TYPES.join(', ')}` });
  const check = compileCheck(RECORD_SCHEMAS[type as WireType]);
  if (check(value)) return value;
  throw invalid(describeFault(check.errors, value, index));
}

/** Checks a request by its schema. @throws RecordingError `INVALID_RECORDS` */
export function requireRequest<T>(schema: Schema<T>, value: unknown): T {
  const check = compileCheck(schema);
  if (check(value)) return value;
  throw invalid(describeFault(check.errors, value, null));
}

/** An error for the first broken rule. */
export function invalid(fault: RecordFault): RecordingError {
  const { index, field, value, rule } = fault;
  const where = index === null ? '' : `Record ${index}: `;
  const what =
    value === undefined
      ? `${field || 'it'} is missing; ${rule}`
      : describeProblem({ field: field || 'it', value, rule });
  return new RecordingError('INVALID_RECORDS', `${where}${what}`, { faults: [fault] });
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'an integer',
  number: 'a finite number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
};

/** The most helpful error: for a value that may have several forms, the one about all of them, which comes last. */
function describeFault(
  errors: readonly ErrorObject[] | null | undefined,
  root: unknown,
  index: number | null,
): RecordFault {
  const error = errors?.at(-1);
  if (!error) return { index, field: '', value: root, rule: 'must be valid' };
  const path = formatPath(error.instancePath);
  const inside = (name: string): string => (path === '' ? name : `${path}.${name}`);
  if (error.keyword === 'required') {
    const { missingProperty } = error.params as { readonly missingProperty: string };
    return { index, field: inside(missingProperty), value: undefined, rule: 'must be given' };
  }
  if (error.keyword === 'additionalProperties') {
    const { additionalProperty } = error.params as { readonly additionalProperty: string };
    const value = (error.data as Readonly<Record<string, unknown>>)[additionalProperty];
    return {
      index,
      field: inside(additionalProperty),
      value,
      rule: 'must be absent: there is no such field',
    };
  }
  return { index, field: path, value: error.data, rule: describeRule(error) };
}

function describeRule({ keyword, params, parentSchema, message }: ErrorObject): string {
  const schema = (parentSchema ?? {}) as Schema;
  if (schema['x-rule'] !== undefined) return schema['x-rule'];
  const limit = (params as { readonly limit?: number }).limit;
  switch (keyword) {
    case 'type':
      return `must be ${schema.nullable ? 'null or ' : ''}${KINDS[schema.type ?? ''] ?? schema.type}`;
    case 'enum':
      return `must be one of ${(schema.enum ?? []).join(', ')}`;
    case 'minimum':
      return `must be ≥ ${limit}`;
    case 'maximum':
      return `must be ≤ ${limit}`;
    case 'minLength':
      return limit === 1 ? 'must be non-empty text' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'maxItems':
      return `must have at most ${limit} elements`;
    default:
      return message ?? 'must be valid';
  }
}

/** `/tokens/mask/3` as `tokens.mask[3]`. */
function formatPath(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`),
      '',
    );
}
