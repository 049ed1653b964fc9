import { writeJson } from '@retrace/rows';
import { asObject, isJsonObject } from '@retrace/chat';
import type { Json } from '@retrace/trajectory';
import { fromAnthropic, systemMessages } from '../conversation/anthropic-messages.js';
import { newToolCall } from '../conversation/chat-message.js';
import { newMessage } from '../conversation/conversation-steps.js';
import { readReasoningText, withoutReasoning } from '../conversation/reasoning.js';
import { toRole } from '../conversation/roles.js';
import { type Fields, isMissing, json, looseJson, looseText } from '../fields.js';
import type { WireMessage, WireToolCall } from '@retrace/recording';

/**
 * Reads messages of whatever a tracer wrote as input or output of a call: a list of messages in OpenAI's, Anthropic's or LangChain's shape, an
 * object with `messages` or `choices`, one message, or a text. What is no message is kept as the text of one in `role`.
 */
export function looseMessages(value: unknown, role = 'user'): WireMessage[] {
  if (isMissing(value) || value === '') return [];
  if (typeof value === 'string') return [{ role, content: value }];
  if (Array.isArray(value)) return value.flatMap((item) => looseMessages(item, role));
  if (!isJsonObject(value)) return [{ role, content: writeJson(value) }];
  if (Array.isArray(value.messages))
    return [...systemMessages(value), ...looseMessages(value.messages, role)];
  if (Array.isArray(value.choices)) {
    const [choice] = value.choices as unknown[];
    return looseMessages(isJsonObject(choice) ? (choice.message ?? choice.text) : choice, role);
  }
  if (isJsonObject(value.message)) return looseMessages(value.message, role);
  const isMessage = 'content' in value || 'tool_calls' in value || 'toolCalls' in value;
  return isMessage
    ? (fromAnthropic({ role, ...value }) ?? [message(value, role)])
    : [{ role, content: writeJson(value) }];
}

function message(fields: Fields, fallbackRole: string): WireMessage {
  const given = looseText(fields.role) ?? looseText(fields.type) ?? fallbackRole;
  const extra = asObject(fields.additional_kwargs);
  const calls = looseCalls(fields.tool_calls ?? fields.toolCalls ?? extra.tool_calls);
  const fromParts = Array.isArray(fields.content) ? looseCalls(fields.content) : [];
  const reasoning = readReasoningText(fields) ?? readReasoningText(extra);
  return newMessage({
    role: toRole(given),
    content: readContent(fields.content, reasoning),
    name: looseText(fields.name),
    reasoning_content: reasoning,
    tool_calls: calls.length > 0 ? calls : fromParts,
    tool_call_id: looseText(fields.tool_call_id) ?? looseText(fields.toolCallId) ?? looseText(fields.id),
  });
}

/** Calls of a list, or of its JSON, of OpenAI's shape or flat as the AI SDK has them. One without arguments has `none`; undefined leaves it out. */
export function looseCalls(value: unknown, none?: object): WireToolCall[] {
  const list = looseJson(value);
  if (!Array.isArray(list)) return [];
  return list.flatMap((item): WireToolCall[] => {
    const call = looseJson(item);
    if (!isJsonObject(call)) return [];
    const called = isJsonObject(call.function) ? call.function : call;
    const name = looseText(called.name) ?? looseText(called.toolName);
    const given = called.arguments ?? called.args ?? called.input ?? none;
    if (name === undefined || given === undefined) return [];
    return [newToolCall({ id: looseText(call.id) ?? looseText(call.toolCallId) ?? '', name, given })];
  });
}

/** Content as text, or as parts where one is no text. Calls among the parts are read as calls, and reasoning as `reasoning`. */
function readContent(value: unknown, reasoning: string | undefined): WireMessage['content'] {
  if (isMissing(value)) return null;
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return writeJson(value);
  const parts = withoutReasoning(value as readonly unknown[], reasoning).filter(
    (part) =>
      !(isJsonObject(part) && typeof part.type === 'string' && /^tool[-_](call|use)$/.test(part.type)),
  );
  return joinedParts(parts);
}

/** Parts as one text where all of them are text; null where there are none. */
export function joinedParts(parts: readonly unknown[]): WireMessage['content'] {
  if (parts.length === 0) return null;
  const texts = parts.map((part) =>
    typeof part === 'string' ? part : isJsonObject(part) && part.type === 'text' ? part.text : null,
  );
  if (texts.every((text) => typeof text === 'string')) return texts.join('\n');
  return parts.map((part): Json =>
    isJsonObject(part) && typeof part.type === 'string'
      ? json(part)
      : { type: 'text', text: writeJson(part) },
  );
}
