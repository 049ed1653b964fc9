import type { SamplingDefaults } from '../calls/protocol.js';
import { NEUTRAL_SAMPLING } from '../sampling/sampling.js';
import type { ModelServer, ServedTokens } from './model-server.js';
import { SGLANG } from './sglang.js';
import { VLLM } from './vllm.js';

/** All kinds of model servers; `other` is asked for nothing in addition. Their order has a meaning: see `SIGNS`. */
export const MODEL_SERVERS = {
  vllm: VLLM,
  sglang: SGLANG,
  openai: { hosts: ['api.openai.com'], tellsStreamUsage: true, tokens: null },
  anthropic: {
    hosts: ['api.anthropic.com'],
    keyHeader: 'x-api-key',
    tellsStreamUsage: false,
    tokens: null,
  },
  other: { tellsStreamUsage: false, tokens: null },
} as const satisfies Readonly<Record<string, ModelServer>>;

export type ModelServerKind = keyof typeof MODEL_SERVERS;

/** Kinds that give token ids, so that policies can be sampled and scored there. */
export type TokenServerKind = {
  [Kind in ModelServerKind]: (typeof MODEL_SERVERS)[Kind]['tokens'] extends null ? never : Kind;
}[ModelServerKind];

/** Kinds that take new weights while they run, so that a policy that trains can be sampled there. */
export type WeightServerKind = {
  [Kind in TokenServerKind]: (typeof MODEL_SERVERS)[Kind]['tokens']['takesWeights'] extends true
    ? Kind
    : never;
}[TokenServerKind];

/** Kinds that take LoRA adapters beside their model. */
export type AdapterServerKind = {
  [Kind in WeightServerKind]: (typeof MODEL_SERVERS)[Kind]['tokens']['takesAdapters'] extends true
    ? Kind
    : never;
}[WeightServerKind];

export const MODEL_SERVER_KINDS = Object.keys(MODEL_SERVERS) as readonly ModelServerKind[];

/** `retrace serve` tells its tokenizer here, and what it samples with. */
export const VERSION_PATH = '/version';

/** Kinds that a route tells, last ones first: vLLM's `/version` may be a route of others, too. */
const SIGNS = MODEL_SERVER_KINDS.flatMap((kind) => {
  const { sign } = modelServer(kind);
  return sign === undefined ? [] : [{ kind, ...sign }];
}).reverse();

/** Routes whose answers tell the kind of a server. */
export const KIND_PATHS: readonly string[] = [...new Set([VERSION_PATH, ...SIGNS.map(({ path }) => path)])];

/** The kind of a server, by its answers of `KIND_PATHS`, with the answer that told it; null: of `other`. */
export function kindByAnswers<Answer extends object>(
  answers: ReadonlyMap<string, Answer>,
): { readonly kind: ModelServerKind; readonly sign: Answer | null } {
  for (const { kind, path, field } of SIGNS) {
    const sign = answers.get(path);
    if (sign !== undefined && field in sign) return { kind, sign };
  }
  return { kind: 'other', sign: null };
}

/** The kind of the servers on a host; null where any may be there. */
export function kindByHost(host: string): ModelServerKind | null {
  return MODEL_SERVER_KINDS.find((kind) => modelServer(kind).hosts?.includes(host)) ?? null;
}

/** The facts of a kind. */
export function modelServer(kind: ModelServerKind): ModelServer {
  return MODEL_SERVERS[kind];
}

/** Whether a server gives token ids and log-probabilities when it is asked for them. */
export function hasTokens(kind: ModelServerKind): kind is TokenServerKind {
  return MODEL_SERVERS[kind].tokens !== null;
}

export const TOKEN_SERVER_KINDS: readonly TokenServerKind[] = MODEL_SERVER_KINDS.filter(hasTokens);

export const WEIGHT_SERVER_KINDS: readonly WeightServerKind[] = TOKEN_SERVER_KINDS.filter(
  (kind): kind is WeightServerKind => tokenServer(kind).takesWeights,
);

/** The facts of a kind that gives tokens. */
export function tokenServer(kind: TokenServerKind): ServedTokens {
  return MODEL_SERVERS[kind].tokens;
}

/**
 * Defaults of a server, as far as they are known. Servers that give tokens take all of them from the model's `generation_config.json`, unless they were started otherwise, and
 * tell nobody (`vllm/config/model.py`, `get_diff_sampling_param`; `sglang/srt/configs/model_config.py`, `get_default_sampling_params`).
 */
export function knownDefaults(kind: ModelServerKind): SamplingDefaults {
  if (hasTokens(kind)) return {};
  const { temperature: _, ...known } = NEUTRAL_SAMPLING;
  return known;
}
