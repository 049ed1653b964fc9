import { writeJson } from '@retrace/rows';
import { asObject, asObjects, isJsonObject } from '@retrace/chat';
import type { Json } from '@retrace/trajectory';
import { newToolCall } from '../conversation/chat-message.js';
import { newMessage } from '../conversation/conversation-steps.js';
import { type Fields, isMissing, json, looseJson, looseText } from '../fields.js';
import type { WireMessage, WireToolCall } from '@retrace/recording';
import { indexedEntries } from './indexed-attributes.js';
import { langfuseMessages } from './langfuse-attributes.js';
import { joinedParts, looseCalls, looseMessages } from './loose-messages.js';
import { openInferenceMessages } from './openinference.js';
import type { Attributes, OtelSpan } from './otel-span.js';

interface CallMessages {
  readonly input: readonly WireMessage[];
  readonly output: WireMessage | null;
}

/** The event that has what other tracers put into attributes. */
const DETAILS_EVENT = 'gen_ai.client.inference.operation.details';

/**
 * Reads the messages of a call: of `gen_ai.input.messages` and its siblings, in attributes or in an event; of the flattened
 * `gen_ai.prompt.0.role` of OpenLLMetry; of one event a message, as of 2024; of the AI SDK before version 7; of OpenInference; of
 * Langfuse's SDKs.
 */
export function genAiMessages(span: OtelSpan): CallMessages {
  const { attributes, events } = span;
  const details = events.find(({ name }) => name === DETAILS_EVENT)?.attributes ?? {};
  const readings = [
    () => ofConvention({ ...details, ...attributes }),
    () => ofFlattened(attributes),
    () => ofEvents(span),
    () => ofAiSdk(attributes),
    () => openInferenceMessages(attributes),
    () => langfuseMessages(attributes),
  ];
  for (const read of readings) {
    const messages = read();
    if (messages.input.length > 0 || messages.output !== null) return messages;
  }
  return { input: [], output: null };
}

function ofConvention(attributes: Attributes): CallMessages {
  const instructions = looseJson(attributes['gen_ai.system_instructions']);
  const system = isMissing(instructions)
    ? []
    : partMessages('system', Array.isArray(instructions) ? instructions : [instructions]);
  const input = asObjects(looseJson(attributes['gen_ai.input.messages'])).flatMap(structuredMessages);
  const [output = null] = asObjects(looseJson(attributes['gen_ai.output.messages'])).flatMap(
    structuredMessages,
  );
  return { input: [...system, ...input], output };
}

function structuredMessages(value: Fields): WireMessage[] {
  const role = looseText(value.role) ?? 'user';
  if (Array.isArray(value.parts)) return partMessages(role, value.parts);
  return looseMessages([value]);
}

/** A message of parts: texts, reasoning and calls are one message, and each result of a tool is one of its own. */
function partMessages(role: string, parts: readonly unknown[]): WireMessage[] {
  const results: WireMessage[] = [];
  const content: Json[] = [];
  const calls: WireToolCall[] = [];
  const reasoning: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') content.push({ type: 'text', text: part });
    if (!isJsonObject(part)) continue;
    const type = looseText(part.type) ?? 'text';
    if (type === 'text') content.push({ type: 'text', text: readText(part.content) });
    else if (type === 'reasoning') reasoning.push(readText(part.content));
    else if (type === 'tool_call') {
      calls.push(
        newToolCall({
          id: looseText(part.id) ?? '',
          name: looseText(part.name) ?? '',
          given: part.arguments,
        }),
      );
    } else if (type === 'tool_call_response') results.push(toolResult(part));
    else if (type === 'uri' && typeof part.uri === 'string') {
      content.push({ type: 'image_url', image_url: { url: part.uri } });
    } else if (type !== 'blob') content.push(json(part));
  }
  if (content.length === 0 && calls.length === 0 && reasoning.length === 0) return results;
  return [
    newMessage({
      role,
      content: joinedParts(content),
      reasoning_content: reasoning.join('\n'),
      tool_calls: calls,
    }),
    ...results,
  ];
}

function toolResult(part: Fields): WireMessage {
  const id = looseText(part.id);
  return newMessage({ role: 'tool', content: readText(part.response ?? part.result), tool_call_id: id });
}

function readText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isMissing(value) ? '' : writeJson(value);
}

function ofFlattened(attributes: Attributes): CallMessages {
  const prompt = indexedEntries(attributes, 'gen_ai.prompt').map(flattenedMessage);
  const [output] = indexedEntries(attributes, 'gen_ai.completion').map(flattenedMessage);
  if (prompt.length > 0 || output !== undefined) return { input: prompt, output: output ?? null };
  return {
    input: looseMessages(looseJson(attributes['gen_ai.prompt']), 'user'),
    output: firstAnswer(looseJson(attributes['gen_ai.completion'])),
  };
}

function flattenedMessage(entry: Attributes): WireMessage {
  const calls = indexedEntries(entry, 'tool_calls').map((call) =>
    newToolCall({
      id: looseText(call.id) ?? '',
      name: looseText(call.name) ?? looseText(call['function.name']) ?? '',
      given: call.arguments ?? call['function.arguments'],
    }),
  );
  const toolCallId = looseText(entry.tool_call_id);
  const role = calls.length > 0 ? 'assistant' : toolCallId === undefined ? 'user' : 'tool';
  const content = looseJson(entry.content);
  return newMessage({
    role: looseText(entry.role) ?? role,
    content: Array.isArray(content)
      ? joinedParts(content)
      : isMissing(entry.content)
        ? null
        : readText(entry.content),
    tool_calls: calls,
    tool_call_id: toolCallId,
  });
}

const firstAnswer = (value: unknown): WireMessage | null => looseMessages(value, 'assistant').at(0) ?? null;

function ofEvents({ events }: OtelSpan): CallMessages {
  const input: WireMessage[] = [];
  let output: WireMessage | null = null;
  for (const { name, attributes } of events) {
    const role = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(name)?.[1];
    if (role !== undefined) input.push(...looseMessages([{ role, ...attributes, ...readBody(attributes) }]));
    else if (name === 'gen_ai.choice') {
      const message = looseJson(attributes.message ?? readBody(attributes).message);
      output ??= firstAnswer([isJsonObject(message) ? { role: 'assistant', ...message } : message]);
    } else if (name === 'gen_ai.content.prompt') {
      input.push(...looseMessages(looseJson(attributes['gen_ai.prompt']), 'user'));
    } else if (name === 'gen_ai.content.completion') {
      output ??= firstAnswer(looseJson(attributes['gen_ai.completion']));
    }
  }
  return { input, output };
}

function readBody(attributes: Attributes): Fields {
  return asObject(looseJson(attributes.body ?? attributes['event.body']));
}

function ofAiSdk(attributes: Attributes): CallMessages {
  const text = looseText(attributes['ai.response.text']);
  const calls = looseCalls(attributes['ai.response.toolCalls'], {});
  const output =
    text === undefined && calls.length === 0
      ? null
      : newMessage({ role: 'assistant', content: text ?? null, tool_calls: calls });
  return { input: looseMessages(looseJson(attributes['ai.prompt.messages'])), output };
}
