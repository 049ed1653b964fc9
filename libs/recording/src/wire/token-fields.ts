import type { TokenColumnName } from '@retrace/trajectory';
import { tokenIds } from './episode-records.js';
import { listOf, nullable, type Schema } from './schema.js';

/** How callers send a token column. */
interface TokenField {
  /** Field of `tokens`. */
  readonly field: string;
  /** Column of an Arrow stream. */
  readonly arrow: string;
  readonly schema: Schema;
}

const MAX_TOKENS = 4_194_304;
const MAX_INT32 = 2 ** 31 - 1;

/** A column of numbers, null where a value is unknown. */
const reals = (description: string) =>
  nullable(listOf<number | null>({ type: 'number', nullable: true }, description, { maxItems: MAX_TOKENS }));

const integers = (minimum: number, description: string) =>
  nullable(
    listOf<number>({ type: 'integer', minimum, maximum: MAX_INT32 }, description, { maxItems: MAX_TOKENS }),
  );

/** Each token column of a step as records have it, in the order of the schema. */
export const TOKEN_FIELDS = {
  tokenIds: { field: 'ids', arrow: 'token_ids', schema: tokenIds },
  actionMask: {
    field: 'mask',
    arrow: 'token_mask',
    schema: listOf<number>(
      { type: 'integer', minimum: 0, maximum: 1 },
      '1 where the agent sampled the token; no 0 follows a 1',
      { maxItems: MAX_TOKENS },
    ),
  },
  tokenLogprobs: {
    field: 'logprobs',
    arrow: 'token_logprobs',
    schema: reals('Natural logprobs of the sampled tokens; null where unknown and where mask is 0'),
  },
  tokenRawLogprobs: {
    field: 'rawLogprobs',
    arrow: 'token_raw_logprobs',
    schema: reals('Logprobs before temperature and other sampling transforms, where known beside `logprobs`'),
  },
  tokenEntropies: {
    field: 'entropies',
    arrow: 'token_entropies',
    schema: reals('Entropies (nats) of the distributions that were sampled from'),
  },
  tokenPolicyVersions: {
    field: 'versions',
    arrow: 'token_versions',
    schema: integers(-1, 'Policy version that sampled each token; −1 = no policy of this run'),
  },
  tokenRoutedExperts: {
    field: 'routedExperts',
    arrow: 'token_routed_experts',
    schema: integers(
      0,
      'Experts that a mixture-of-experts model sent each token to, token by token, as many for each (layers × top-k)',
    ),
  },
} as const satisfies Readonly<Record<TokenColumnName, TokenField>>;

type TokenFields = typeof TOKEN_FIELDS;

/** The schemas of the fields of `tokens` that are token columns. */
export const TOKEN_SCHEMAS = Object.fromEntries(
  Object.values(TOKEN_FIELDS).map(({ field, schema }) => [field, schema]),
) as { readonly [Name in TokenColumnName as TokenFields[Name]['field']]: TokenFields[Name]['schema'] };
