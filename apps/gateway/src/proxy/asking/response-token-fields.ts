import {
  isJsonObject,
  modelServer,
  objectOfEvent,
  asObjects,
  type ModelServerKind,
  type SseEvent,
} from '@retrace/chat';
import type { JsonObject, JsonValue } from '@retrace/client';

const LOGPROBS = 'message.output_text.logprobs';

/**
 * Fields that ask the Responses API of a server for token ids and log-probabilities, where the request does not ask itself. A response in
 * the background can't have its messages.
 */
export function responseTokenFields(body: JsonObject, upstream: ModelServerKind): JsonObject {
  if (modelServer(upstream).tokens?.areInResponses !== true || body.background === true) return {};
  const include = Array.isArray(body.include) ? (body.include as readonly JsonValue[]) : [];
  return {
    ...(body.enable_response_messages !== true && { enable_response_messages: true }),
    ...(!include.includes(LOGPROBS) && { include: [...include, LOGPROBS] }),
  };
}

/** Removes from a response what only `added` had asked for. */
export function hideTokens(response: JsonObject, body: JsonObject, added: JsonObject): JsonObject {
  return {
    ...response,
    ...('enable_response_messages' in added && { input_messages: null, output_messages: null }),
    ...('include' in added && {
      ...('top_logprobs' in response && { top_logprobs: body.top_logprobs ?? null }),
      ...(Array.isArray(response.output) && { output: asObjects(response.output).map(hideItem) }),
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
    ...(isJsonObject(response) && { response: hideTokens(response, body, added) }),
    ...(hidesLogprobs && isJsonObject(item) && { item: hideItem(item) }),
    ...(hidesLogprobs && isJsonObject(part) && { part: hidePart(part) }),
    ...(hidesLogprobs && Array.isArray(logprobs) && { logprobs: [] }),
  };
  return { ...event, data: JSON.stringify(data) };
}

function hideItem(item: JsonObject): JsonObject {
  return Array.isArray(item.content) ? { ...item, content: asObjects(item.content).map(hidePart) } : item;
}

/** An empty list, with which a part begins, stays. */
function hidePart(part: JsonObject): JsonObject {
  const { logprobs } = part;
  return Array.isArray(logprobs) && logprobs.length > 0 ? { ...part, logprobs: null } : part;
}
