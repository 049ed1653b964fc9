import { toolCall } from '@retrace/chat';
import { writeJson } from '@retrace/rows';
import { isJsonObject, type Json } from '@retrace/trajectory';
import { asFields, asList, asText, isMissing, json, known } from '../fields.js';
import { RowFault } from '../skip.js';
import type { WireMessage, WireToolCall } from '@retrace/recording';
import { readReasoningText, withoutReasoning } from './reasoning.js';

/** Fields of an OpenAI message that are taken; others, such as a weight, belong to their format. */
export function readChatMessage(value: unknown, name: string): WireMessage {
  const fields = asFields(value, name);
  const { tool_calls: calls } = fields;
  const reasoning = readReasoningText(fields);
  return known({
    role: asText(fields.role, `${name}.role`),
    content: contentWithout(chatContent(fields.content, `${name}.content`), reasoning),
    name: optionalText(fields.name),
    tool_calls: isMissing(calls)
      ? undefined
      : asList(calls, `${name}.tool_calls`).map((call, index) =>
          readToolCall(call, `${name}.tool_calls[${index}]`),
        ),
    tool_call_id: optionalText(fields.tool_call_id),
    reasoning_content: reasoning,
  }) as WireMessage;
}

/** @throws RowFault `WRONG_TYPE` for what is neither a text, a list of parts nor missing */
export function chatContent(value: unknown, name: string): string | null | readonly Json[] {
  if (isMissing(value)) return null;
  if (typeof value === 'string') return value;
  return asList(value, name).map((part, index) => {
    if (isJsonObject(part) && typeof part.type === 'string') return json(part);
    throw new RowFault('WRONG_TYPE', `"${name}[${index}]" must be a content part with a type`);
  });
}

/** A content without its reasoning, which may be all of it. */
function contentWithout(
  content: WireMessage['content'],
  reasoning: string | undefined,
): WireMessage['content'] {
  if (isMissing(content) || typeof content === 'string') return content;
  const said = withoutReasoning(content, reasoning);
  return said.length === 0 ? null : said;
}

/** Reads a tool call in OpenAI's shape; arguments that were parsed already become a text again. */
function readToolCall(value: unknown, name: string): WireToolCall {
  const fields = asFields(value, name);
  const called = asFields(fields.function, `${name}.function`);
  return newToolCall({
    id: optionalText(fields.id) ?? '',
    name: asText(called.name, `${name}.function.name`),
    given: called.arguments,
  });
}

/** Makes a tool call of a name and arguments, as text or as parsed JSON. */
export function newToolCall(call: {
  readonly id: string;
  readonly name: string;
  readonly given: unknown;
}): WireToolCall {
  const { id, name, given } = call;
  return toolCall(id, name, typeof given === 'string' ? given : writeJson(given ?? {}));
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
