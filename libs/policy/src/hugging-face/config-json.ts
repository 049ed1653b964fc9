import { PolicyError } from '../policy-error.js';

/** Reads the fields of a JSON file of a model directory; errors name the file and the field. */
export class ConfigJson {
  private readonly fields: Readonly<Record<string, unknown>>;

  /** @param file the path of the file, or of an object inside it, for messages */
  constructor(
    readonly file: string,
    json: unknown,
  ) {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw new PolicyError('INVALID_FILE', `${file} holds ${describe(json)}; it must be a JSON object`);
    }
    this.fields = json as Record<string, unknown>;
  }

  toJSON(): Readonly<Record<string, unknown>> {
    return this.fields;
  }

  /** The value of any type; null when the field is missing. */
  get(field: string): unknown {
    return this.fields[field] ?? null;
  }

  number(field: string): number {
    return this.optionalNumber(field) ?? this.refuse(field, 'is required', 'INVALID_FILE');
  }

  optionalNumber(field: string): number | null {
    return this.ofType<number>(field, 'number');
  }

  optionalString(field: string): string | null {
    return this.ofType<string>(field, 'string');
  }

  optionalBoolean(field: string): boolean | null {
    return this.ofType<boolean>(field, 'boolean');
  }

  /** The object in a field; null when the field is missing. */
  optionalObject(field: string): ConfigJson | null {
    const value = this.get(field);
    return value === null ? null : new ConfigJson(`${this.file}, ${field}`, value);
  }

  strings(field: string): readonly string[] {
    const value = this.get(field);
    if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string')) {
      this.refuse(field, 'must be a list of strings', 'INVALID_FILE');
    }
    return value as string[];
  }

  /** All fields, each of which must be a string. */
  stringEntries(): [string, string][] {
    return Object.entries(this.fields).map(([field, value]) => {
      if (typeof value !== 'string') this.refuse(field, 'must be a string', 'INVALID_FILE');
      return [field, value];
    });
  }

  /** Refuses a field that is present with any value but the supported one. */
  requireAbsentOr(field: string, supported: unknown): void {
    const value = this.get(field);
    if (value !== null && value !== supported) {
      this.refuse(field, supported === null ? 'must be absent' : `must be ${describe(supported)}`);
    }
  }

  /** @throws PolicyError `UNSUPPORTED_MODEL` by default, with the field's value and the rule it breaks */
  refuse(
    field: string,
    rule: string,
    code: 'UNSUPPORTED_MODEL' | 'INVALID_FILE' = 'UNSUPPORTED_MODEL',
  ): never {
    throw new PolicyError(code, `${this.file} has ${field} ${describe(this.get(field))}; it ${rule}`);
  }

  private ofType<T>(field: string, type: 'number' | 'string' | 'boolean'): T | null {
    const value = this.get(field);
    if (value !== null && typeof value !== type) this.refuse(field, `must be a ${type}`, 'INVALID_FILE');
    return value as T | null;
  }
}

function describe(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 80 ? text : `${text.slice(0, 80)}…`;
}
