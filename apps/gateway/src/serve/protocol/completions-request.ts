import { encodePlain } from '@retrace/policy';
import type { PolicySupply } from '../supply/policy-supply.js';
import { RequestError } from '../../http/request-error.js';
import type { RequestFields } from './request-fields.js';
import { MAX_LIKELIEST, readSampling, type SamplingFields } from './sampling-fields.js';

/** A request of `/v1/completions`. */
export interface CompletionsRequest {
  readonly prompts: readonly Int32Array[];
  readonly sampling: SamplingFields;
  /** Likeliest tokens to report; null: no logprobs. */
  readonly logprobs: number | null;
  /** Whether to report the logprobs of the prompts' own tokens. */
  readonly scoresPrompts: boolean;
}

/** As many tokens as OpenAI's API generates when nothing else is asked for. */
const DEFAULT_MAX_TOKENS = 16;

/** @throws RequestError, and PolicyError where the tokenizer can't express a prompt */
export function readCompletions(fields: RequestFields, { text }: PolicySupply): CompletionsRequest {
  fields.only('echo', false);
  fields.only('suffix');
  fields.only('prompt_logprobs', 0);
  const maxTokens = fields.integer('max_tokens', { min: 1 }) ?? DEFAULT_MAX_TOKENS;
  const request = {
    prompts: readPrompts(fields.any('prompt')).map((prompt) =>
      typeof prompt === 'string' ? encodePlain(text.tokenizer, prompt) : Int32Array.from(prompt),
    ),
    sampling: readSampling(fields, maxTokens),
    logprobs: fields.integer('logprobs', { min: 0, max: MAX_LIKELIEST }),
    scoresPrompts: fields.any('prompt_logprobs') !== undefined,
  };
  fields.refuseOthers();
  if (request.prompts.some(({ length }) => length === 0))
    throw invalidPrompt('has a prompt without tokens; it needs at least one');
  if (request.scoresPrompts && request.sampling.isStream) {
    throw new RequestError('"prompt_logprobs" is 0; it is allowed without "stream": true only', {
      param: 'prompt_logprobs',
      code: 'invalid_value',
    });
  }
  return request;
}

function readPrompts(prompt: unknown): readonly (string | readonly number[])[] {
  if (prompt === undefined) throw invalidPrompt('is required');
  if (typeof prompt === 'string') return [prompt];
  const isIds = (value: unknown): value is number[] =>
    Array.isArray(value) && value.every((id) => Number.isInteger(id) && id >= 0 && id < 2 ** 31);
  if (Array.isArray(prompt) && prompt.length > 0) {
    if (isIds(prompt)) return [prompt];
    if (prompt.every((each): each is string | number[] => typeof each === 'string' || isIds(each)))
      return prompt;
  }
  throw invalidPrompt('must be a text, a list of token ids, or a list of either');
}

function invalidPrompt(rule: string): RequestError {
  return new RequestError(`"prompt" ${rule}`, { param: 'prompt', code: 'invalid_value' });
}
