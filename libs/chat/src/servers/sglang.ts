import { AnswerFault } from '../calls/answer-fault.js';
import type { ServerQuestion } from '../calls/server-question.js';
import {
  checkCount,
  readLikeliest,
  readLogprobs,
  readTokenIds,
  tokenList,
} from '../tokens/answered-tokens.js';
import { PROMPT_IDS, SAMPLED_IDS } from '../tokens/engine-tokens.js';
import type { ModelServer } from './model-server.js';
import type { GeneratedTokens, ScoredTokens, ScoreRequest, TokenApi, VersionSpan } from './token-api.js';

interface Meta {
  readonly finish_reason?: { readonly type?: unknown; readonly matched?: unknown } | null;
  readonly completion_tokens?: unknown;
  readonly weight_version?: unknown;
  readonly weight_versions?: unknown;
  /** [logprob, token id, text] for each token. */
  readonly output_token_logprobs?: readonly (readonly unknown[])[];
  readonly input_token_logprobs?: readonly (readonly unknown[])[];
  /** null for the first token. */
  readonly input_top_logprobs?: readonly (readonly (readonly unknown[])[] | null)[];
  readonly output_top_logprobs?: readonly (readonly (readonly unknown[])[])[];
}

interface GenerationBody extends Readonly<Record<string, unknown>> {
  readonly input_ids: readonly number[];
  readonly sampling_params: Readonly<Record<string, unknown>> & { readonly max_new_tokens: number };
}

/** SGLang's own `/generate` (by the source of 0.5.23), which says the version of the weights for each token. */
const TOKENS: TokenApi = {
  program: { name: 'sglang', path: '/server_info' },
  path: '/generate',
  generate: (request) =>
    ask(
      {
        input_ids: tokenList(request.tokenIds),
        sampling_params: {
          temperature: request.greedy ? 0 : request.temperature,
          top_k: request.topK === 0 ? -1 : request.topK,
          top_p: request.topP,
          min_p: 0,
          repetition_penalty: 1,
          max_new_tokens: request.maxNewTokens,
          ignore_eos: true,
          stop_token_ids: request.stopTokenIds,
          stop: request.stopStrings.length > 0 ? request.stopStrings : undefined,
          no_stop_trim: request.stopStrings.length > 0 ? true : undefined,
          sampling_seed: request.seed,
        },
        return_logprob: true,
      },
      readGenerated,
    ),
  score: (request) =>
    ask(
      {
        input_ids: request.tokenIds,
        sampling_params: { temperature: 1, top_k: -1, top_p: 1, max_new_tokens: 1, ignore_eos: true },
        return_logprob: true,
        logprob_start_len: 0,
        top_logprobs_num: request.topK,
      },
      (meta) => readScored(meta, request),
    ),
  likeliest: ({ tokenIds, temperature, numTokens }) =>
    ask(
      {
        input_ids: tokenIds,
        sampling_params: { temperature, top_k: -1, top_p: 1, max_new_tokens: 1, ignore_eos: true },
        return_logprob: true,
        top_logprobs_num: numTokens,
      },
      ({ output_top_logprobs: top }) =>
        new Map((top?.[0] ?? []).map(([logprob, id]) => [String(id), Number(logprob)])),
    ),
};

function ask<Answer>(body: GenerationBody, read: (meta: Meta) => Answer): ServerQuestion<Answer> {
  return {
    body,
    numTokens: body.input_ids.length + body.sampling_params.max_new_tokens,
    read: (answer) => {
      const meta = (answer as { readonly meta_info?: Meta } | null)?.meta_info;
      if (meta === undefined) throw new AnswerFault('the answer has no meta_info');
      return read(meta);
    },
  };
}

function readScored(
  { input_token_logprobs: tokens = [], input_top_logprobs: top }: Meta,
  { tokenIds: { length }, topK = 0 }: ScoreRequest,
): ScoredTokens {
  return {
    logprobs: readLogprobs(
      tokens.map(([logprob]) => logprob),
      { field: 'meta_info.input_token_logprobs', length },
    ),
    likeliest:
      topK > 0
        ? readLikeliest(
            (top ?? []).map((place) => (place ?? []).map(([logprob, id]) => [logprob, id] as const)),
            { field: 'meta_info.input_top_logprobs', length, topK },
          )
        : null,
  };
}

function readGenerated(meta: Meta): GeneratedTokens {
  const tokens = meta.output_token_logprobs ?? [];
  const field = 'meta_info.output_token_logprobs';
  const tokenIds = readTokenIds(
    tokens.map(([, id]) => id),
    field,
  );
  checkCount(tokenIds.length, meta.completion_tokens, 'meta_info.completion_tokens');
  const logprobs = readLogprobs(
    tokens.map(([logprob]) => logprob),
    { field, length: tokenIds.length },
  );
  const { type, matched } = meta.finish_reason ?? {};
  const stopReason = type !== 'stop' ? 'length' : typeof matched === 'string' ? 'stopString' : 'stopToken';
  return { tokenIds, logprobs, versions: listVersions(meta, tokenIds.length), stopReason };
}

/** Spans of the weights' versions; where the server names one version only, the whole turn is its. */
function listVersions(
  { weight_version, weight_versions }: Meta,
  numTokens: number,
): readonly VersionSpan[] | null {
  if (Array.isArray(weight_versions) && weight_versions.length > 0) {
    const spans = weight_versions as readonly VersionSpan[];
    let at = 0;
    for (const { version, start, end } of spans) {
      if (typeof version !== 'string' || start !== at || end < start) return refuseSpans();
      at = end;
    }
    return at === numTokens ? spans : refuseSpans();
  }
  return typeof weight_version === 'string' ? [{ version: weight_version, start: 0, end: numTokens }] : null;
}

function refuseSpans(): never {
  const rule = 'must be spans {version, start, end} that cover the tokens in order';
  throw new AnswerFault(`meta_info.weight_versions ${rule}`);
}

/** SGLang, by `sglang/srt/entrypoints/openai/protocol.py`. */
export const SGLANG = {
  sign: {
    path: '/get_model_info',
    field: 'model_path',
    directories: ['tokenizer_path', 'model_path'],
  },
  tellsStreamUsage: true,
  tokens: {
    api: TOKENS,
    idFlags: {
      'chat-completions': { return_token_ids: SAMPLED_IDS, return_prompt_token_ids: [PROMPT_IDS] },
      completions: {
        return_token_ids: [PROMPT_IDS, ...SAMPLED_IDS],
        return_prompt_token_ids: [PROMPT_IDS],
      },
    },
    areInResponses: false,
    logprobMode: 'processed',
    maxStopStrings: null,
    servesByName: false,
    takesWeights: true,
    takesAdapters: false,
  },
} as const satisfies ModelServer;
