/** A JSON schema in the dialect of OpenAPI 3.0: what is checked is what the API's document says. */
export interface Schema {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly description?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  /** The rule that a value of several forms breaks, in words; starts with "must". */
  readonly 'x-rule'?: string;
}

type RequiredKey<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T];

/** The schema of an object with exactly these fields; a field of `T` that is missing here does not compile. */
export function objectSchema<T extends object>(
  properties: { readonly [K in keyof T]-?: Schema },
  required: readonly RequiredKey<T>[],
  description?: string,
): Schema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: properties as Readonly<Record<string, Schema>>,
    ...(required.length > 0 && { required: required as readonly string[] }),
    additionalProperties: false,
  };
}

const MAX_TAGS = 100;
const MAX_NAME_LENGTH = 256;

export const text = (description: string, more: Schema = {}): Schema => ({
  type: 'string',
  description,
  ...more,
});

export const uuid = (description: string): Schema =>
  text(description, {
    pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    'x-rule': 'must be a lower-case UUID',
  });

export const name = (description: string, more: Schema = {}): Schema =>
  text(description, { minLength: 1, maxLength: MAX_NAME_LENGTH, ...more });

export const word = (words: readonly string[], description: string, more: Schema = {}): Schema =>
  text(description, { enum: words, ...more });

export const integer = (description: string, more: Schema = {}): Schema => ({
  type: 'integer',
  description,
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  ...more,
});

export const number = (description: string, more: Schema = {}): Schema => ({
  type: 'number',
  description,
  ...more,
});

export const flag = (description: string, more: Schema = {}): Schema => ({
  type: 'boolean',
  description,
  ...more,
});

export const listOf = (items: Schema, description: string, more: Schema = {}): Schema => ({
  type: 'array',
  items,
  description,
  ...more,
});

export const tags = (description: string, more: Schema = {}): Schema =>
  listOf({ type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH }, description, {
    maxItems: MAX_TAGS,
    ...more,
  });

/** Any JSON value; whether it can be stored is checked with the event. */
export const json = (description: string): Schema => ({ description });

/** A time: ISO 8601 text, or microseconds since the Unix epoch. */
export const time: Schema = {
  description:
    'ISO 8601 text with a time zone, or whole microseconds since the Unix epoch. Default: the arrival',
  anyOf: [
    { type: 'string', format: 'date-time', maxLength: 40 },
    { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  ],
  'x-rule': 'must be ISO 8601 text with a time zone, or whole microseconds since the Unix epoch',
};
