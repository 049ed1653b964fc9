import { AnswerFault } from '../calls/answer-fault.js';
import type { ServerQuestion } from '../calls/server-question.js';
import {
  checkCount,
  readLikeliest,
  readLogprobs,
  readTokenIds,
  tokenList,
  type NamedToken,
} from '../tokens/answered-tokens.js';
import { PROMPT_IDS, SAMPLED_IDS } from '../tokens/engine-tokens.js';
import type { ModelServer } from './model-server.js';
import type { GeneratedTokens, ScoredTokens, ScoreRequest, TokenApi } from './token-api.js';

interface Choice {
  readonly token_ids?: unknown;
  readonly finish_reason?: unknown;
  readonly stop_reason?: unknown;
  readonly logprobs?: {
    readonly token_logprobs?: unknown;
    readonly top_logprobs?: readonly Readonly<Record<string, number>>[];
  } | null;
  /** Of each token of the prompt, by its id; null for the first. */
  readonly prompt_logprobs?: unknown;
}

interface Completion {
  readonly choices?: readonly Choice[];
  readonly usage?: { readonly completion_tokens?: unknown } | null;
}

/** A token of the vocabulary at a place of the prompt; rank 1 is the likeliest. */
interface RankedToken {
  readonly logprob?: unknown;
  readonly rank?: unknown;
}

type PromptLogprobs = Readonly<Record<string, RankedToken | undefined>>;

/** Fields of a request that differ. */
interface CompletionFields {
  readonly model: string;
  readonly prompt: readonly number[];
  readonly max_tokens: number;
  readonly temperature: number;
  readonly top_k?: number;
  readonly top_p?: number;
  readonly logprobs?: number;
  readonly prompt_logprobs?: number;
  readonly ignore_eos?: boolean;
  readonly stop_token_ids?: readonly number[];
  readonly stop?: readonly string[];
  readonly return_tokens_as_token_ids?: boolean;
}

/**
 * vLLM's completions with token ids (checked with 0.32). Seeds are not sent: sampling depends on the batch all the same, and
 * on a CPU the engine ends when two requests with seeds share one ("CPU Generator does not use offset").
 */
const TOKENS: TokenApi = {
  program: { name: 'vllm', path: '/version' },
  path: '/v1/completions',
  generate: (request) =>
    complete(
      {
        model: request.model,
        prompt: tokenList(request.tokenIds),
        max_tokens: request.maxNewTokens,
        temperature: request.greedy ? 0 : request.temperature,
        top_k: request.topK === 0 ? -1 : request.topK,
        top_p: request.topP,
        logprobs: 0,
        // Only the tokens that are named end a turn.
        ignore_eos: true,
        stop_token_ids: request.stopTokenIds,
        stop: request.stopStrings.length > 0 ? request.stopStrings : undefined,
      },
      readGenerated,
    ),
  score: (request) =>
    complete(
      {
        ...{ model: request.model, prompt: request.tokenIds, max_tokens: 1, temperature: 1 },
        prompt_logprobs: request.topK ?? 0,
      },
      (choice) => readScored(choice, request),
    ),
  likeliest: ({ tokenIds, model, temperature, numTokens }) =>
    complete(
      {
        model,
        prompt: tokenIds,
        max_tokens: 1,
        temperature,
        logprobs: numTokens,
        // Different tokens may have one text.
        return_tokens_as_token_ids: true,
      },
      ({ logprobs }) => new Map(Object.entries(logprobs?.top_logprobs?.[0] ?? {})),
    ),
};

function complete<Answer>(
  fields: CompletionFields,
  read: (choice: Choice, usage: Completion['usage']) => Answer,
): ServerQuestion<Answer> {
  return {
    body: completionBody(fields),
    numTokens: fields.prompt.length + fields.max_tokens,
    read: (answer) => {
      const completion = answer as Completion | null;
      const choice = completion?.choices?.[0];
      if (choice === undefined) throw new AnswerFault('the answer has no choices[0]');
      return read(choice, completion?.usage);
    },
  };
}

/**
 * Adds what all requests have: the server's own default of each kind of sampling would otherwise come from the model's
 * `generation_config.json`. Field by field, since spreading one object into another took 5 µs and 4 kB of each turn.
 */
function completionBody(fields: CompletionFields) {
  return {
    model: fields.model,
    prompt: fields.prompt,
    max_tokens: fields.max_tokens,
    temperature: fields.temperature,
    top_k: fields.top_k ?? -1,
    top_p: fields.top_p ?? 1,
    min_p: 0,
    repetition_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    logprobs: fields.logprobs,
    prompt_logprobs: fields.prompt_logprobs,
    ignore_eos: fields.ignore_eos,
    stop_token_ids: fields.stop_token_ids,
    stop: fields.stop,
    return_token_ids: true,
    return_tokens_as_token_ids: fields.return_tokens_as_token_ids,
  };
}

function readScored(
  { prompt_logprobs: entries }: Choice,
  { tokenIds, topK = 0 }: ScoreRequest,
): ScoredTokens {
  const found = Array.isArray(entries) ? (entries as (PromptLogprobs | null)[]) : [];
  const asked = { field: 'choices[0].prompt_logprobs', length: tokenIds.length };
  const logprobs = found.map((entry, n) => entry?.[`${tokenIds[n]}`]?.logprob ?? null);
  return {
    logprobs: readLogprobs(logprobs, asked),
    likeliest:
      topK > 0
        ? readLikeliest(
            found.map((entry) => rankedTokens(entry ?? {}, topK)),
            { ...asked, topK },
          )
        : null,
  };
}

/** Tokens of ranks 1 to `topK`; the prompt's own token is among the entries whatever its rank. */
function rankedTokens(entry: PromptLogprobs, topK: number): readonly NamedToken[] {
  return Object.entries(entry)
    .map(([id, token]) => ({ id: Number(id), rank: Number(token?.rank), logprob: token?.logprob }))
    .filter(({ rank }) => rank >= 1 && rank <= topK)
    .sort((a, b) => a.rank - b.rank)
    .map(({ id, logprob }) => [logprob, id]);
}

function readGenerated(choice: Choice, usage: Completion['usage']): GeneratedTokens {
  const tokenIds = readTokenIds(choice.token_ids, 'choices[0].token_ids');
  checkCount(tokenIds.length, usage?.completion_tokens, 'usage.completion_tokens');
  const logprobs = readLogprobs(choice.logprobs?.token_logprobs, {
    field: 'choices[0].logprobs.token_logprobs',
    length: tokenIds.length,
  });
  const isString = typeof choice.stop_reason === 'string';
  const stopReason = choice.finish_reason !== 'stop' ? 'length' : isString ? 'stopString' : 'stopToken';
  return { tokenIds, logprobs, versions: null, stopReason };
}

const ID_FLAGS = { return_token_ids: [PROMPT_IDS, ...SAMPLED_IDS] };

/** vLLM, by `vllm/entrypoints/openai/chat_completion/protocol.py` and `vllm/entrypoints/openai/responses/protocol.py`. */
export const VLLM = {
  sign: { path: '/version', field: 'version' },
  tellsStreamUsage: true,
  tokens: {
    api: TOKENS,
    idFlags: { 'chat-completions': ID_FLAGS, completions: ID_FLAGS },
    areInResponses: true,
    logprobMode: 'raw',
    maxStopStrings: 4,
    servesByName: true,
    takesWeights: true,
    takesAdapters: true,
  },
} as const satisfies ModelServer;
