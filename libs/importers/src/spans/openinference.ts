import { asObject } from '@retrace/chat';
import { type Fields, isMissing, json, looseJson, looseText } from '../fields.js';
import type { WireMessage } from '@retrace/recording';
import { indexedEntries } from './indexed-attributes.js';
import { looseMessages } from './loose-messages.js';
import { readToolDefinitions } from './offered-tools.js';
import type { Attributes } from './otel-span.js';
import type { ModelCall, TraceNode } from './trace-node.js';

/** The conventions of Arize's OpenInference: `openinference.span.kind`, and messages that are flattened into attributes. */

export function openInferenceKind(attributes: Attributes): TraceNode['kind'] | undefined {
  const kind = looseText(attributes['openinference.span.kind'])?.toUpperCase();
  if (kind === undefined) return undefined;
  return kind === 'LLM' ? 'call' : kind === 'AGENT' ? 'agent' : kind === 'TOOL' ? 'tool' : 'other';
}

export function openInferenceMessages(attributes: Attributes): Pick<ModelCall, 'input' | 'output'> {
  const input = messagesAt(attributes, 'llm.input_messages');
  const output = messagesAt(attributes, 'llm.output_messages');
  const isCall = openInferenceKind(attributes) === 'call';
  if (!isCall || (input.length > 0 && output.length > 0)) return { input, output: output.at(0) ?? null };
  // Instrumentations that flatten nothing have the request and the answer as JSON, or as text.
  const whole = (name: string, role: string) => looseMessages(looseJson(attributes[`${name}.value`]), role);
  const answered = output.at(0) ?? whole('output', 'assistant').at(0);
  return { input: input.length > 0 ? input : whole('input', 'user'), output: answered ?? null };
}

export function openInferenceTools(attributes: Attributes): ModelCall['tools'] {
  const schemas = indexedEntries(attributes, 'llm.tools').map((entry) => entry['tool.json_schema']);
  return schemas.length === 0 ? null : readToolDefinitions(schemas);
}

function messagesAt(attributes: Attributes, prefix: string): readonly WireMessage[] {
  return indexedEntries(attributes, prefix).flatMap((entry) => looseMessages(readMessage(entry)));
}

function readMessage(entry: Attributes): Fields {
  const own = (name: string) => entry[`message.${name}`];
  const calls = indexedEntries(entry, 'message.tool_calls').map((call) => ({
    id: call['tool_call.id'],
    function: {
      name: call['tool_call.function.name'],
      arguments: call['tool_call.function.arguments'] ?? '{}',
    },
  }));
  const parts = indexedEntries(entry, 'message.contents').flatMap(readPart);
  const legacy = looseText(own('function_call_name'));
  if (calls.length === 0 && legacy !== undefined) {
    const given = own('function_call_arguments_json') ?? '{}';
    calls.push({ id: '', function: { name: legacy, arguments: given } });
  }
  return {
    role: own('role') ?? 'user',
    content: isMissing(own('content')) && parts.length > 0 ? parts : (own('content') ?? null),
    name: own('name'),
    tool_call_id: own('tool_call_id'),
    reasoning: own('reasoning'),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** A part of a content; an image is named by its address. */
function readPart(entry: Attributes): readonly unknown[] {
  const type = looseText(entry['message_content.type']) ?? 'text';
  const url = entry['message_content.image.image.url'];
  if (type === 'image' || url !== undefined) return [{ type: 'image_url', image_url: { url } }];
  const text = looseText(entry['message_content.text']);
  return text === undefined ? [] : [{ type, text }];
}

/** A call's request, as the JSON of its parameters. */
export function invocationParameters(attributes: Attributes): Fields {
  return asObject(looseJson(attributes['llm.invocation_parameters']));
}

export const openInferenceResult = (attributes: Attributes): unknown =>
  openInferenceKind(attributes) === 'tool' ? json(attributes['output.value']) : undefined;
