import { type ArrayType, type ArrayTypes, type EventField, nullable, typedArray } from '../fields/field.js';

/** One token column of a step, in the log and in the store. */
interface TokenColumn {
  readonly type: Exclude<ArrayType, 'Float64Array'>;
  /** The first schema version of `StepRecorded` that has it. */
  readonly since: number;
  /** Whether it may be null: unknown for the whole step. */
  readonly isNullable: boolean;
  /** Which elements are valid: `validation/token-columns.ts` has the rule of each word. Only `lists` has several elements a token. */
  readonly holds: 'ids' | 'mask' | 'logprobs' | 'logprobsOrNaN' | 'entropiesOrNaN' | 'versions' | 'lists';
  /** Column of the table `events`. */
  readonly column: string;
  /** Column that tells null from empty; null where a list of no elements is one that is null or of a step without tokens. */
  readonly has: string | null;
  /** Field of `tokens` in the records of callers. */
  readonly field: string;
  /** Says what it holds in the API's document and in the types of the clients. */
  readonly words: string;
}

/**
 * The one declaration of each token column of a step. Its type in TypeScript, its rule, its form in the codec, its column builder, what reads and
 * writes its row, its checksum and its part of the hash of a row, its form in the records of callers and what the clients do with it follow from here.
 *
 * A new one also takes a migration and its place in the view `steps`, who records it (`episode-recorder.ts`), and its field in the class `Tokens` of the
 * Python client. `node scripts/client-schemas.mjs` writes the rest of the clients.
 */
export const TOKEN_COLUMNS = {
  tokenIds: {
    type: 'Int32Array',
    since: 1,
    isNullable: false,
    holds: 'ids',
    column: 'token_ids',
    has: null,
    field: 'ids',
    words: 'Token ids',
  },
  /** 1 where the policy sampled the token. */
  actionMask: {
    type: 'Uint8Array',
    since: 1,
    isNullable: false,
    holds: 'mask',
    column: 'action_mask',
    has: null,
    field: 'mask',
    words: '1 where the agent sampled the token; no 0 follows a 1',
  },
  /** Behavior logprob (nats) under the transform that was sampled from; NaN = missing, 0 where not sampled. */
  tokenLogprobs: {
    type: 'Float32Array',
    since: 1,
    isNullable: false,
    holds: 'logprobs',
    column: 'token_logprobs',
    has: null,
    field: 'logprobs',
    words: 'Natural logprobs of the sampled tokens; null where unknown and where mask is 0',
  },
  /** Logprob before the sampling transform, where known. */
  tokenRawLogprobs: {
    type: 'Float32Array',
    since: 1,
    isNullable: true,
    holds: 'logprobsOrNaN',
    column: 'token_raw_logprobs',
    has: 'has_raw_logprobs',
    field: 'rawLogprobs',
    words: 'Logprobs before temperature and other sampling transforms, where known beside `logprobs`',
  },
  /** Entropy (nats) of the sampled-from distribution, where known. */
  tokenEntropies: {
    type: 'Float32Array',
    since: 1,
    isNullable: true,
    holds: 'entropiesOrNaN',
    column: 'token_entropies',
    has: 'has_entropies',
    field: 'entropies',
    words: 'Entropies (nats) of the distributions that were sampled from',
  },
  /** Policy version that sampled the token (for tokens not sampled: the version that read it). −1 = no policy of this run. */
  tokenPolicyVersions: {
    type: 'Int32Array',
    since: 1,
    isNullable: false,
    holds: 'versions',
    column: 'token_policy_versions',
    has: null,
    field: 'versions',
    words: 'Policy version that sampled each token; −1 = no policy of this run',
  },
  /**
   * [numTokens × M] Experts that a mixture-of-experts model sent each token to, as its engine gave them (layers × top-k), for trainers that route as the
   * sampler did (Ma et al. 2025, "Stabilizing MoE Reinforcement Learning by Aligning Training and Inference Routers"). Stored and returned untouched.
   */
  tokenRoutedExperts: {
    type: 'Int32Array',
    since: 4,
    isNullable: true,
    holds: 'lists',
    column: 'token_routed_experts',
    has: null,
    field: 'routedExperts',
    words:
      'Experts that a mixture-of-experts model sent each token to, token by token, as many for each (layers × top-k)',
  },
} as const satisfies Readonly<Record<string, TokenColumn>>;

type Columns = typeof TOKEN_COLUMNS;

export type TokenColumnName = keyof Columns;

/** In the order of the table. */
export const TOKEN_COLUMN_NAMES = Object.keys(TOKEN_COLUMNS) as readonly TokenColumnName[];

/**
 * Token columns of a step, each as long as `tokenIds` or a multiple of that: the tokens that this step appended to the context
 * (observation/template tokens first, then action tokens).
 */
export type StepTokenColumns = {
  readonly [Name in TokenColumnName]:
    | ArrayTypes[Columns[Name]['type']]
    | (Columns[Name]['isNullable'] extends true ? null : never);
};

/** Makes an object with something of each token column. */
export function ofTokenColumns<Made>(
  make: (name: TokenColumnName, column: TokenColumn) => Made,
): Readonly<Record<TokenColumnName, Made>> {
  const entries = TOKEN_COLUMN_NAMES.map((name) => [name, make(name, TOKEN_COLUMNS[name])]);
  return Object.fromEntries(entries) as Record<TokenColumnName, Made>;
}

/** The token columns as fields of a step. */
export const tokenFields = ofTokenColumns((_, { type, isNullable, column, since }) => {
  const values: EventField<unknown> = typedArray(type);
  const field = (isNullable ? nullable(values) : values).in(column);
  return since === 1 ? field : field.since(since, null);
}) as { readonly [Name in TokenColumnName]: EventField<StepTokenColumns[Name]> };
