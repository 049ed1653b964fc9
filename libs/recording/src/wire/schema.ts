import type { Json } from '@retrace/trajectory';

/** The keywords of a JSON schema, without `nullable`: that changes the type of the values, so only `nullable()` adds it. */
export interface SchemaKeywords {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly description?: string;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
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

declare const VALUE: unique symbol;

/** A JSON schema of values of type `T`, in the dialect of OpenAPI 3.0: what is checked is what the API's document says. */
export interface Schema<T = unknown> extends SchemaKeywords {
  readonly nullable?: boolean;
  /** Only for the type system. */
  readonly [VALUE]?: T;
}

/** The values that a schema allows. */
export type ValueOf<S> = S extends Schema<infer T> ? T : never;

type Properties = Readonly<Record<string, Schema>>;

type ObjectOf<P, Required extends keyof P> = {
  readonly [Name in Required]: ValueOf<P[Name]>;
} & { readonly [Name in Exclude<keyof P, Required>]?: ValueOf<P[Name]> };

/** The schema of an object with exactly these fields. */
export function objectSchema<P extends Properties, Required extends keyof P & string = never>(
  properties: P,
  required: readonly Required[],
  description?: string,
): Schema<ObjectOf<P, Required>> {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** The same schema, which also allows null. */
export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  return { ...(schema as SchemaKeywords), nullable: true };
}

const MAX_TAGS = 100;
const MAX_NAME_LENGTH = 256;

export const text = (description: string, more: SchemaKeywords = {}): Schema<string> => ({
  type: 'string',
  description,
  ...more,
});

export const uuid = (description: string): Schema<string> =>
  text(description, {
    pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    'x-rule': 'must be a lower-case UUID',
  });

export const name = (description: string, more: SchemaKeywords = {}): Schema<string> =>
  text(description, { minLength: 1, maxLength: MAX_NAME_LENGTH, ...more });

export const word = <const Words extends readonly string[]>(
  words: Words,
  description: string,
  more: SchemaKeywords = {},
): Schema<Words[number]> => ({ type: 'string', description, enum: words, ...more });

export const integer = (description: string, more: SchemaKeywords = {}): Schema<number> => ({
  type: 'integer',
  description,
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  ...more,
});

export const number = (description: string, more: SchemaKeywords = {}): Schema<number> => ({
  type: 'number',
  description,
  ...more,
});

export const flag = (description: string, more: SchemaKeywords = {}): Schema<boolean> => ({
  type: 'boolean',
  description,
  ...more,
});

export const listOf = <T>(
  items: Schema<T>,
  description: string,
  more: SchemaKeywords = {},
): Schema<readonly T[]> => ({
  type: 'array',
  items,
  description,
  ...more,
});

export const tags = (description: string, more: SchemaKeywords = {}): Schema<readonly string[]> =>
  listOf({ type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH }, description, {
    maxItems: MAX_TAGS,
    ...more,
  });

/** Any JSON value; whether it can be stored is checked with the event. */
export const json = (description: string): Schema<Json> => ({ description });

/** A time: ISO 8601 text, or microseconds since the Unix epoch. */
export const time: Schema<string | number> = {
  description:
    'ISO 8601 text with a time zone, or whole microseconds since the Unix epoch. Default: the arrival',
  anyOf: [
    { type: 'string', format: 'date-time', maxLength: 40 },
    { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  ],
  'x-rule': 'must be ISO 8601 text with a time zone, or whole microseconds since the Unix epoch',
};
