import { createHash, randomInt } from 'node:crypto';
import { DISTRIBUTION_PARAMETERS } from '@retrace/chat';
import type { PolicySupply } from '../supply/policy-supply.js';
import type { AnswerRequest } from '../engine/answer-request.js';
import { RequestError } from '../../http/request-error.js';
import type { RequestFields } from './request-fields.js';

const MAX_CHOICES = 128;
/** As many as vLLM reports by default. */
export const MAX_LIKELIEST = 20;
/** Below this a temperature is 0, as in vLLM. */
const GREEDY_BELOW = 1e-5;
const MAX_SEED = 2 ** 48;

/** Sampling as a request asks for it, and how the answer is to be written. */
export interface SamplingFields {
  readonly n: number;
  /** null: as many tokens as the context has room for. */
  readonly maxTokens: number | null;
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly seed: number;
  readonly stopStrings: readonly string[];
  /** Beside those of the model. */
  readonly stopTokenIds: readonly number[];
  readonly ignoresEnd: boolean;
  readonly includesStop: boolean;
  readonly skipsSpecialTokens: boolean;
  readonly returnsTokenIds: boolean;
  /** Whether tokens are named `token_id:7` instead of by their texts. */
  readonly namesTokensById: boolean;
  readonly isStream: boolean;
  readonly streamsUsage: boolean;
}

/** Reads the fields that both APIs have; those that would change answers in ways that are not supported are refused. */
export function readSampling(fields: RequestFields, maxTokens: number | null): SamplingFields {
  refuseUnsupported(fields);
  const isStream = fields.boolean('stream') ?? false;
  const streamOptions = fields.object('stream_options');
  if (streamOptions !== null && !isStream) {
    throw new RequestError('"stream_options" is given; it is allowed with "stream": true only', {
      param: 'stream_options',
      code: 'invalid_value',
    });
  }
  const stopTokenIds = fields.any('stop_token_ids') ?? [];
  if (!Array.isArray(stopTokenIds) || !stopTokenIds.every((id) => Number.isInteger(id))) {
    throw new RequestError('"stop_token_ids" must be a list of integers', {
      param: 'stop_token_ids',
      code: 'invalid_value',
    });
  }
  const stopStrings = fields.texts('stop') ?? [];
  if (stopStrings.includes('')) {
    throw new RequestError('"stop" has an empty text, which every text contains', {
      param: 'stop',
      code: 'invalid_value',
    });
  }
  return {
    n: fields.integer('n', { min: 1, max: MAX_CHOICES }) ?? 1,
    maxTokens,
    temperature: fields.number('temperature', { min: 0, max: 100 }) ?? 1,
    topP: readTopP(fields),
    topK: Math.max(0, fields.integer('top_k', { min: -1 }) ?? 0),
    seed: fields.integer('seed', { min: Number.MIN_SAFE_INTEGER }) ?? randomInt(MAX_SEED - 1),
    stopStrings,
    stopTokenIds: stopTokenIds as number[],
    ignoresEnd: fields.boolean('ignore_eos') ?? false,
    includesStop: fields.boolean('include_stop_str_in_output') ?? false,
    skipsSpecialTokens: fields.boolean('skip_special_tokens') ?? true,
    returnsTokenIds: fields.boolean('return_token_ids') ?? false,
    namesTokensById: fields.boolean('return_tokens_as_token_ids') ?? false,
    isStream,
    streamsUsage: streamOptions?.include_usage === true,
  };
}

/** The answers to one prompt. */
export function answerRequests(
  tokenIds: Int32Array,
  sampling: SamplingFields,
  {
    supply,
    contextLength,
    numLikeliest,
  }: { supply: PolicySupply; contextLength: number; numLikeliest: number },
): AnswerRequest[] {
  const maxNewTokens = maxNewTokensFor(tokenIds.length, sampling, contextLength);
  const isGreedy = sampling.temperature < GREEDY_BELOW;
  const ends = sampling.ignoresEnd || supply.isSingleToken ? [] : supply.text.stopTokenIds;
  return Array.from({ length: sampling.n }, (_, choice) => ({
    tokenIds,
    temperature: isGreedy ? 1 : sampling.temperature,
    topK: Math.min(sampling.topK, supply.text.tokenizer.vocabSize),
    topP: sampling.topP,
    greedy: isGreedy,
    maxNewTokens,
    stopTokenIds: [...ends, ...sampling.stopTokenIds],
    stopStrings: sampling.stopStrings,
    numLikeliest: Math.min(numLikeliest, supply.text.tokenizer.vocabSize),
    samplingSeed: choiceSeed(sampling.seed, choice),
  }));
}

/** @throws RequestError `context_length_exceeded` */
function maxNewTokensFor(
  numPromptTokens: number,
  { maxTokens }: SamplingFields,
  contextLength: number,
): number {
  const room = contextLength - numPromptTokens;
  if (room >= (maxTokens ?? 1)) return maxTokens ?? room;
  const answer = maxTokens === null ? 'no token is left for the answer' : `${maxTokens} for the answer`;
  const total = maxTokens === null ? '' : `, ${numPromptTokens + maxTokens} tokens in all`;
  throw new RequestError(
    `The context length is ${contextLength} tokens; the request has ${numPromptTokens} tokens in its prompt and ${answer}${total}`,
    { code: 'context_length_exceeded' },
  );
}

/** The first choice has the seed of the request, so one answer is what the generator gives for that seed. */
function choiceSeed(seed: number, choice: number): number {
  if (choice === 0) return seed;
  return createHash('sha256').update(`${seed}/${choice}`).digest().readUIntBE(0, 6);
}

function readTopP(fields: RequestFields): number {
  const topP = fields.number('top_p', { min: 0, max: 1 }) ?? 1;
  if (topP > 0) return topP;
  throw new RequestError('"top_p" is 0; it must be above 0 and at most 1', {
    param: 'top_p',
    code: 'invalid_value',
  });
}

/** Fields that change answers are refused, unless they have the value without an effect. */
function refuseUnsupported(fields: RequestFields): void {
  const refuse = (...names: readonly (keyof typeof DISTRIBUTION_PARAMETERS)[]) => {
    for (const name of names) fields.only(name, ...DISTRIBUTION_PARAMETERS[name]);
  };
  refuse('presence_penalty', 'frequency_penalty', 'min_p', 'min_tokens');
  fields.only('length_penalty', 1);
  refuse('repetition_penalty', 'logit_bias', 'use_beam_search');
  fields.only('best_of', 1);
  fields.only('truncate_prompt_tokens');
  refuse('allowed_token_ids', 'bad_words', 'structured_outputs');
  refuse('guided_json', 'guided_regex', 'guided_choice', 'guided_grammar', 'response_format');
  fields.only('spaces_between_special_tokens', true);
  fields.only('add_special_tokens', false);
  fields.only('store', false);
  fields.only('service_tier', 'auto', 'default');
  fields.only('priority', 0);
  // Notes of the client, without an effect on the answer.
  for (const name of ['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'request_id'])
    fields.any(name);
}
