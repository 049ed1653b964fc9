import type { JsonObject, TokenUsage } from '@retrace/client';
import { eventObject, isObject, numberOf, objectOf, objectsOf } from './json-fields.js';
import { withoutAdded } from './engine-tokens.js';
import type { PreparedCall, SseEvent } from './protocol.js';

/** Names of the fields that `withoutAdded` removes: an event without any of them passes as it came. */
const ADDED_NAMES = ['"token_ids"', '"prompt_token_ids"', '"response_token_ids"', '"logprobs"', '"usage"'];

/** The part of a call that asks for more than the client did, and hides it from the client. */
export function addingCall(
  body: JsonObject,
  added: JsonObject,
): Pick<PreparedCall, 'body' | 'isStream' | 'hides' | 'hide' | 'hideEvent'> {
  const hides = Object.keys(added).length > 0;
  return {
    body: hides ? { ...body, ...added } : body,
    isStream: body.stream === true,
    hides,
    hide: (answer) => (hides ? withoutAdded(answer, added) : answer),
    hideEvent: (event) => (hides ? hideEvent(event, added) : event),
  };
}

function hideEvent(event: SseEvent, added: JsonObject): SseEvent | null {
  if (!ADDED_NAMES.some((name) => event.data.includes(name))) return event;
  const chunk = eventObject(event.data);
  if (chunk === null) return event;
  const isUsage = 'stream_options' in added && isObject(chunk.usage) && objectsOf(chunk.choices).length === 0;
  return isUsage ? null : { ...event, data: JSON.stringify(withoutAdded(chunk, added)) };
}

/** Reads token counts of OpenAI's form; null where the answer has none. */
export function usageOf(value: JsonObject['usage']): TokenUsage | null {
  if (!isObject(value)) return null;
  return {
    inputTokens: numberOf(value.prompt_tokens),
    cachedInputTokens: numberOf(objectOf(value.prompt_tokens_details).cached_tokens),
    outputTokens: numberOf(value.completion_tokens),
    reasoningTokens: numberOf(objectOf(value.completion_tokens_details).reasoning_tokens),
  };
}

/** An answer as its server told it, complete or cut off. */
export interface EngineAnswer {
  readonly status: number;
  readonly body: JsonObject;
  readonly isCut: boolean;
}
