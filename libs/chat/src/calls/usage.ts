import type { JsonObject, JsonValue, TokenUsage } from '@retrace/client';
import { isJsonObject } from '@retrace/trajectory/json';
import { asNumber, asObject } from '../json/json-fields.js';

/** Token counts of an answer, as its server told them; null = not told. */
type ToldUsage = Required<Omit<TokenUsage, 'costUsd'>>;

/** Reads one count; null where it is none. */
type CountOf = (value: JsonValue | undefined) => number | null;

/** Reads the token counts of chat completions and completions; null where the answer has none. */
export function completionUsage(usage: unknown): ToldUsage | null {
  return isJsonObject(usage) ? completionCounts(usage, asNumber) : null;
}

/** Reads the token counts in the usage of chat completions and completions. */
export function completionCounts(usage: JsonObject, countOf: CountOf): ToldUsage {
  return {
    inputTokens: countOf(usage.prompt_tokens),
    cachedInputTokens: countOf(asObject(usage.prompt_tokens_details).cached_tokens),
    outputTokens: countOf(usage.completion_tokens),
    reasoningTokens: countOf(asObject(usage.completion_tokens_details).reasoning_tokens),
  };
}

/** Reads the token counts of a response; null where it has none. */
export function responseUsage(told: unknown): ToldUsage | null {
  const usage = asObject(told);
  if (Object.keys(usage).length === 0) return null;
  return {
    inputTokens: asNumber(usage.input_tokens),
    cachedInputTokens: asNumber(asObject(usage.input_tokens_details).cached_tokens),
    outputTokens: asNumber(usage.output_tokens),
    reasoningTokens: asNumber(asObject(usage.output_tokens_details).reasoning_tokens),
  };
}

type MessageUsage = Omit<ToldUsage, 'reasoningTokens'>;

/** Reads the token counts of Anthropic's messages; null where there are none. */
export function messageUsage(told: unknown): MessageUsage | null {
  const counts = messageCounts(asObject(told), asNumber);
  return counts.inputTokens === null && counts.outputTokens === null ? null : counts;
}

/**
 * Reads the token counts in the usage of Anthropic's messages. Anthropic counts tokens that the cache gave, and those that it took in, beside
 * `input_tokens`; here they are a part of the input.
 */
export function messageCounts(usage: JsonObject, countOf: CountOf): MessageUsage {
  const fresh = countOf(usage.input_tokens);
  const cached = countOf(usage.cache_read_input_tokens);
  const written = countOf(usage.cache_creation_input_tokens);
  return {
    inputTokens: fresh === null ? null : fresh + (cached ?? 0) + (written ?? 0),
    cachedInputTokens: cached,
    outputTokens: countOf(usage.output_tokens),
  };
}
