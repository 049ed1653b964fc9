import { TOKEN_COLUMNS, type TokenColumnName } from '@retrace/trajectory';
import { listOf, nullable, type Schema } from './schema.js';

const MAX_TOKENS = 4_194_304;
const MAX_INT32 = 2 ** 31 - 1;

type Holds = (typeof TOKEN_COLUMNS)[TokenColumnName]['holds'];
type ListSchema<T = number> = Schema<readonly T[]>;

const integers =
  (minimum: number, maximum = MAX_INT32) =>
  (words: string) =>
    listOf<number>({ type: 'integer', minimum, maximum }, words, { maxItems: MAX_TOKENS });

/** Numbers, null where a value is unknown. */
const reals = (words: string) =>
  nullable(listOf<number | null>({ type: 'number', nullable: true }, words, { maxItems: MAX_TOKENS }));

/** The schema of a column as callers send it. */
const SCHEMA_OF = {
  ids: integers(0),
  mask: integers(0, 1),
  logprobs: reals,
  logprobsOrNaN: reals,
  entropiesOrNaN: reals,
  versions: (words: string) => nullable(integers(-1)(words)),
  lists: (words: string) => nullable(integers(0)(words)),
} satisfies Readonly<
  Record<Holds, (words: string) => ListSchema | Schema<readonly (number | null)[] | null>>
>;

/** Each token column of a step as callers send it. */
export const TOKEN_FIELDS = Object.entries(TOKEN_COLUMNS).map(([name, { field, holds, words }]) => ({
  name,
  /** Field of `tokens`. */
  field,
  /** Column of an Arrow stream. */
  arrow: `token_${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
  schema: SCHEMA_OF[holds](words),
}));

type TokenColumns = typeof TOKEN_COLUMNS;

/** The schemas of the fields of `tokens` that are token columns, in the order of the table. */
export const TOKEN_SCHEMAS = Object.fromEntries(
  TOKEN_FIELDS.map(({ field, schema }) => [field, schema]),
) as unknown as {
  readonly [Name in TokenColumnName as TokenColumns[Name]['field']]: ReturnType<
    (typeof SCHEMA_OF)[TokenColumns[Name]['holds']]
  >;
};
