import { isJsonObject } from '@retrace/chat';
import type { Dict, Value } from '@retrace/jinja';
import { RequestError } from '../../http/request-error.js';

export type JsonFields = Readonly<Record<string, unknown>>;

interface NumberRule {
  readonly min: number;
  readonly max?: number;
}

interface FieldsOptions {
  /** Of the object in the request; '' for the request itself. */
  readonly path?: string;
  /** Reads the same fields as they were written. */
  readonly written?: () => Dict;
}

/** Reads the fields of a request, each once; a field that nobody has read is refused. null counts as absent. */
export class RequestFields {
  private readonly read = new Set<string>();

  private readonly path: string;
  private readonly readWritten: (() => Dict) | undefined;
  private writtenValues: Dict | undefined;

  constructor(
    private readonly values: JsonFields,
    { path = '', written }: FieldsOptions = {},
  ) {
    this.path = path;
    this.readWritten = written;
  }

  /** A value with its numbers and the order of its keys as the request has them, for chat templates; null where there is none. */
  written(name: string): Value {
    this.writtenValues ??= this.readWritten?.();
    return this.writtenValues?.get(name) ?? null;
  }

  number(name: string, rule: NumberRule): number | null {
    return this.checked(name, `a number ${describeRange(rule)}`, (value): value is number =>
      isIn(value, rule),
    );
  }

  integer(name: string, rule: NumberRule): number | null {
    const holds = (value: unknown): value is number => Number.isSafeInteger(value) && isIn(value, rule);
    return this.checked(name, `an integer ${describeRange(rule)}`, holds);
  }

  boolean(name: string): boolean | null {
    return this.checked(name, 'true or false', (value) => typeof value === 'boolean');
  }

  text(name: string): string | null {
    return this.checked(name, 'a text', (value) => typeof value === 'string');
  }

  object(name: string): JsonFields | null {
    return this.checked(name, 'an object', isJsonObject);
  }

  objects(name: string): readonly JsonFields[] | null {
    const holds = (value: unknown): value is JsonFields[] =>
      Array.isArray(value) && value.every(isJsonObject);
    return this.checked(name, 'a list of objects', holds);
  }

  /** One text, or several. */
  texts(name: string): readonly string[] | null {
    const isText = (value: unknown): value is string => typeof value === 'string';
    const value = this.checked(
      name,
      'a text or a list of texts',
      (found): found is string | string[] => isText(found) || (Array.isArray(found) && found.every(isText)),
    );
    return typeof value === 'string' ? [value] : value;
  }

  /** Any value; undefined where there is none. */
  any(name: string): unknown {
    this.read.add(name);
    return this.values[name] ?? undefined;
  }

  /** Refuses a value that is none of `allowed`, since what it asks for is not supported. */
  only(name: string, ...allowed: readonly unknown[]): void {
    const value = this.any(name);
    if (value === undefined || allowed.some((each) => JSON.stringify(each) === JSON.stringify(value))) return;
    const values = allowed.map((each) => JSON.stringify(each)).join(' or ');
    throw this.error(
      name,
      `"${this.path}${name}" is ${shown(value)}; this server supports ${allowed.length === 0 ? 'none' : `only ${values}`}`,
      'unsupported_parameter',
    );
  }

  /** @throws RequestError for the first field that nobody has read */
  refuseOthers(): void {
    const unknown = Object.keys(this.values).find(
      (name) => !this.read.has(name) && this.values[name] !== null,
    );
    if (unknown === undefined) return;
    throw this.error(unknown, `Unknown parameter "${this.path}${unknown}"`, 'unknown_parameter');
  }

  required<T>(name: string, value: T | null): T {
    if (value !== null) return value;
    throw this.error(name, `"${this.path}${name}" is required`, 'missing_parameter');
  }

  private checked<T>(name: string, rule: string, holds: (value: unknown) => value is T): T | null {
    const value = this.any(name);
    if (value === undefined) return null;
    if (holds(value)) return value;
    throw this.error(name, `"${this.path}${name}" is ${shown(value)}; it must be ${rule}`, 'invalid_value');
  }

  private error(name: string, message: string, code: string): RequestError {
    return new RequestError(message, { param: `${this.path}${name}`, code });
  }
}

function isIn(value: unknown, { min, max = Number.POSITIVE_INFINITY }: NumberRule): value is number {
  return typeof value === 'number' && value >= min && value <= max;
}

function describeRange({ min, max }: NumberRule): string {
  return max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
}

const MAX_SHOWN = 100;

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
