/**
 * The forms in which templates read messages. Clients of OpenAI's API write the arguments of a call as a text and a content as a text or in
 * parts; of templates, some read arguments as an object and some join them as a text, and some read contents in parts and most as a text.
 */
import { Dict, JinjaError, parseJson } from '@retrace/jinja';
import type { ConversationMessage } from './chat-template.js';

/** Forms of a conversation, the most usual first: arguments as objects, contents as a text. */
export function messageForms(
  messages: readonly ConversationMessage[],
): readonly (readonly ConversationMessage[])[] {
  const parsed = messages.map(withCalls(parsedArguments));
  const hasCalls = messages.some((message) => Array.isArray(message.tool_calls));
  const written = hasCalls ? [messages.map(withCalls(writtenArguments))] : [];
  return [parsed, ...written].flatMap((form) => [
    form.map(withText),
    form.map(withFilledText),
    form.map(withParts),
  ]);
}

type Fields = Readonly<Record<string, unknown>>;

/** A copy of a message with the arguments of its calls changed; the message itself where nothing changes. */
function withCalls(
  change: (given: unknown) => unknown,
): (message: ConversationMessage) => ConversationMessage {
  return (message) => {
    if (!Array.isArray(message.tool_calls)) return message;
    const calls = (message.tool_calls as readonly unknown[]).map((call) => changedCall(call, change));
    return { ...message, tool_calls: calls };
  };
}

function changedCall(call: unknown, change: (given: unknown) => unknown): unknown {
  const called = readField(call, 'function');
  if (called === undefined) return call;
  return withField(call, 'function', withField(called, 'arguments', change(readField(called, 'arguments'))));
}

function parsedArguments(given: unknown): unknown {
  if (given === undefined || given === null) return new Dict(new Map());
  if (typeof given !== 'string') return given;
  try {
    const value = parseJson(given);
    return value instanceof Dict ? value : given;
  } catch (error) {
    if (error instanceof JinjaError) return given;
    throw error;
  }
}

function writtenArguments(given: unknown): unknown {
  return given ?? '{}';
}

/** The message with its content as one text. Contents that are no text parts stay as they are. */
function withText(message: ConversationMessage): ConversationMessage {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const texts = (content as readonly unknown[]).map((part) => readField(part, 'text'));
  return texts.every((text) => typeof text === 'string') ? { ...message, content: texts.join('') } : message;
}

/** The message with its content as one text, empty where it has none. */
function withFilledText(message: ConversationMessage): ConversationMessage {
  const { content } = message;
  return content === undefined || content === null ? { ...message, content: '' } : withText(message);
}

/** The message with its content in parts. */
function withParts(message: ConversationMessage): ConversationMessage {
  const { content } = message;
  return typeof content === 'string' ? { ...message, content: [{ type: 'text', text: content }] } : message;
}

function readField(value: unknown, name: string): unknown {
  if (value instanceof Dict) return value.entries.get(name);
  return typeof value === 'object' && value !== null ? (value as Fields)[name] : undefined;
}

function withField(value: unknown, name: string, field: unknown): unknown {
  if (!(value instanceof Dict)) return { ...(value as Fields), [name]: field };
  return new Dict(new Map([...value.entries, [name, field as never]]));
}
