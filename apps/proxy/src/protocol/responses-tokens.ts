import type { JsonObject, JsonValue, TokenUsage } from '@retrace/client';
import { callTokens, idsOf, logprobsOf, missingTokens } from './engine-tokens.js';
import { objectOfEvent } from './event-object.js';
import { hasOnlyObjects, isObject, objectsOf } from './json-fields.js';
import type { PromptAndSampledTokens, SseEvent, UpstreamKind } from './protocol.js';

const LOGPROBS = 'message.output_text.logprobs';
const MESSAGES_WITH_TOKENS = ['input_messages', 'output_messages'] as const;

/**
 * Fields that ask vLLM's Responses API for token ids and log-probabilities, where the request does not ask itself. Source:
 * `vllm/entrypoints/openai/responses/protocol.py`; a response in the background can't have its messages.
 */
export function tokenFieldsOf(body: JsonObject, upstream: UpstreamKind): JsonObject {
  if (upstream !== 'vllm' || body.background === true) return {};
  const include = Array.isArray(body.include) ? (body.include as readonly JsonValue[]) : [];
  return {
    ...(body.enable_response_messages !== true && { enable_response_messages: true }),
    ...(!include.includes(LOGPROBS) && { include: [...include, LOGPROBS] }),
  };
}

/** Tokens of a response that is one prompt and one answer; null for all others, as those that call tools of the server. */
export function tokensOfResponse({
  input_messages,
  output_messages,
  output,
}: JsonObject): PromptAndSampledTokens | null {
  const [prompt, ...prompts] = objectsOf(input_messages);
  const [answer, ...answers] = objectsOf(output_messages);
  if (prompt === undefined || answer === undefined || prompts.length + answers.length > 0) return null;
  const parts = objectsOf(output).flatMap(({ content }) => objectsOf(content));
  const content = parts.flatMap(({ logprobs }) => objectsOf(logprobs));
  return callTokens(idsOf(prompt.tokens), idsOf(answer.tokens), logprobsOf({ logprobs: { content } }));
}

/** Compares the tokens of a response with its usage, as `missingTokens` does. */
export function missingTokensOf(response: JsonObject, usage: TokenUsage | null): string | undefined {
  const tokens = tokensOfResponse(response);
  return missingTokens(
    { prompt: tokens?.promptIds.length ?? null, sampled: tokens?.sampledIds.length ?? null },
    usage,
  );
}

/** The field of a response that is not as the protocol has it; undefined where there is none. */
export function unreadableField(response: JsonObject): string | undefined {
  const { output } = response;
  if (!hasOnlyObjects(output)) return 'output';
  if (objectsOf(output).some(({ content }) => typeof content !== 'string' && !hasOnlyObjects(content)))
    return 'content';
  return MESSAGES_WITH_TOKENS.find(
    (name) =>
      !hasOnlyObjects(response[name]) ||
      objectsOf(response[name]).some(({ tokens }) => tokens != null && idsOf(tokens) === null),
  );
}

/** Removes from a response what only `added` had asked for. */
export function hideTokens(response: JsonObject, body: JsonObject, added: JsonObject): JsonObject {
  return {
    ...response,
    ...('enable_response_messages' in added && { input_messages: null, output_messages: null }),
    ...('include' in added && {
      ...('top_logprobs' in response && { top_logprobs: body.top_logprobs ?? null }),
      ...(Array.isArray(response.output) && { output: objectsOf(response.output).map(hideItem) }),
    }),
  };
}

/** Removes from an event what only `added` had asked for. */
export function hideEventTokens(event: SseEvent, body: JsonObject, added: JsonObject): SseEvent {
  if (!event.data.includes('"logprobs"') && !event.data.includes('_messages"')) return event;
  const told = objectOfEvent(event);
  if (told === null) return event;
  const { response, item, part, logprobs } = told;
  const hidesLogprobs = 'include' in added;
  const data = {
    ...told,
    ...(isObject(response) && { response: hideTokens(response, body, added) }),
    ...(hidesLogprobs && isObject(item) && { item: hideItem(item) }),
    ...(hidesLogprobs && isObject(part) && { part: hidePart(part) }),
    ...(hidesLogprobs && Array.isArray(logprobs) && { logprobs: [] }),
  };
  return { ...event, data: JSON.stringify(data) };
}

function hideItem(item: JsonObject): JsonObject {
  return Array.isArray(item.content) ? { ...item, content: objectsOf(item.content).map(hidePart) } : item;
}

/** An empty list, with which a part begins, stays. */
function hidePart(part: JsonObject): JsonObject {
  const { logprobs } = part;
  return Array.isArray(logprobs) && logprobs.length > 0 ? { ...part, logprobs: null } : part;
}
