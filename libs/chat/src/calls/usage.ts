import type { TokenUsage } from '@retrace/client';
import { isJsonObject, numberOf, objectOf } from '../json/json-fields.js';

/** Token counts of an answer, as its server told them; null = not told. */
export type ToldUsage = Required<Omit<TokenUsage, 'costUsd'>>;

/** Reads the token counts of chat completions and completions; null where the answer has none. */
export function completionUsage(usage: unknown): ToldUsage | null {
  if (!isJsonObject(usage)) return null;
  return {
    inputTokens: numberOf(usage.prompt_tokens),
    cachedInputTokens: numberOf(objectOf(usage.prompt_tokens_details).cached_tokens),
    outputTokens: numberOf(usage.completion_tokens),
    reasoningTokens: numberOf(objectOf(usage.completion_tokens_details).reasoning_tokens),
  };
}

/** Reads the token counts of a response; null where it has none. */
export function responseUsage(told: unknown): ToldUsage | null {
  const usage = objectOf(told);
  if (Object.keys(usage).length === 0) return null;
  return {
    inputTokens: numberOf(usage.input_tokens),
    cachedInputTokens: numberOf(objectOf(usage.input_tokens_details).cached_tokens),
    outputTokens: numberOf(usage.output_tokens),
    reasoningTokens: numberOf(objectOf(usage.output_tokens_details).reasoning_tokens),
  };
}

/**
 * Reads the token counts of Anthropic's messages; null where there are none. Anthropic counts tokens that the cache gave, and those that it took in, beside
 * `input_tokens`; here they are a part of the input.
 */
export function messageUsage(told: unknown): Omit<ToldUsage, 'reasoningTokens'> | null {
  const usage = objectOf(told);
  const fresh = numberOf(usage.input_tokens);
  const cached = numberOf(usage.cache_read_input_tokens);
  const outputTokens = numberOf(usage.output_tokens);
  if (fresh === null && outputTokens === null) return null;
  const written = numberOf(usage.cache_creation_input_tokens) ?? 0;
  return {
    inputTokens: fresh === null ? null : fresh + (cached ?? 0) + written,
    cachedInputTokens: cached,
    outputTokens,
  };
}
