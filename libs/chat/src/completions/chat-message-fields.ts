import type { ChatMessage, JsonObject, JsonValue, ToolCall } from '@retrace/client';
import {
  chatMessage,
  contentOf,
  partsOf,
  REASONING_FIELDS,
  reasoningOf,
  toolCall,
} from '@retrace/client/messages';
import { isJsonObject } from '@retrace/trajectory/json';
import { hasOnlyObjects, asObject, asObjects, asText } from '../json/json-fields.js';

/** The field of a message of chat completions, or of a delta of one, that is not as the protocol or any known server has it; undefined where there is none. */
export function unreadableMessageField(message: JsonObject): string | undefined {
  const { content, refusal, tool_calls } = message;
  if (!isText(content) && !hasOnlyObjects(content)) return 'content';
  if (refusal != null && !isText(refusal)) return 'refusal';
  if (!hasOnlyObjects(tool_calls)) return 'tool_calls';
  return REASONING_FIELDS.find((name) => !isTextOrParts(message[name]));
}

/** A message in the form that Retrace stores, without the fields that are null or empty. */
export function readMessage(message: JsonObject): ChatMessage {
  const { content, refusal, name, tool_call_id } = message;
  const role = asText(message.role) ?? 'assistant';
  // In a stream, no text and an empty one are the same.
  const said = content === '' && role === 'assistant' ? null : content;
  return chatMessage({
    role,
    content: contentOf([...partsOf(said), ...partsOf(asText(refusal))]),
    tool_calls: readToolCalls(message),
    reasoning_content: reasoningOf(message),
    ...(typeof tool_call_id === 'string' && { tool_call_id }),
    ...(typeof name === 'string' && { name }),
  });
}

/** Calls of tools; `function_call` is their older form, which has no id. */
function readToolCalls({ tool_calls, function_call }: JsonObject): ToolCall[] {
  const calls = asObjects(tool_calls).map((call) => {
    const called = asObject(call.function ?? call.custom);
    return toolCall(asText(call.id) ?? '', asText(called.name) ?? '', called.arguments ?? called.input ?? '');
  });
  if (!isJsonObject(function_call)) return calls;
  return [...calls, toolCall('', asText(function_call.name) ?? '', function_call.arguments ?? '')];
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === 'string';
}

function isTextOrParts(value: JsonValue | undefined): boolean {
  return isText(value) || (value !== undefined && isJsonObject(value)) || hasOnlyObjects(value);
}
