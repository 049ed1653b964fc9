import type { StepDetail } from '../api-types/schema';

export interface ChatToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them; JSON is indented. */
  readonly arguments: string;
}

export interface ChatEntry {
  readonly role: string;
  /** Text of the content; parts that are no text are named. */
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ChatToolCall[];
  /** The call that a tool's message answers; empty for none. */
  readonly toolCallId: string;
}

export interface StepChat {
  readonly input: readonly ChatEntry[];
  /** Null where the agent gave no message. */
  readonly output: ChatEntry | null;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the chat messages of a step. Recorders store what their agent's provider sent, so every field may be missing or of another
 * type; null where the step has no messages.
 */
export function readChat(messages: StepDetail['messages']): StepChat | null {
  const fields = fieldsOf(messages);
  if (fields === null) return null;
  const input = listOf(fields.input).map(readEntry);
  const output = fieldsOf(fields.output);
  return input.length === 0 && output === null ? null : { input, output: output && readEntry(output) };
}

function readEntry(value: unknown): ChatEntry {
  const fields = fieldsOf(value) ?? {};
  return {
    role: textOf(fields.role) || 'unknown',
    text: readContent(fields.content),
    reasoning: textOf(fields.reasoning_content ?? fields.reasoning),
    toolCalls: listOf(fields.tool_calls).map(readToolCall),
    toolCallId: textOf(fields.tool_call_id),
  };
}

function readToolCall(value: unknown): ChatToolCall {
  const fields = fieldsOf(value) ?? {};
  const called = fieldsOf(fields.function) ?? fields;
  return {
    id: textOf(fields.id),
    name: textOf(called.name) || 'unknown',
    arguments: indented(called.arguments),
  };
}

function readContent(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => {
      const fields = fieldsOf(part) ?? {};
      const url = textOf(fieldsOf(fields.image_url)?.url);
      return textOf(fields.text) || (url === '' ? `[${textOf(fields.type) || 'part'}]` : `[image ${url}]`);
    })
    .join('\n');
}

function indented(value: unknown): string {
  if (typeof value !== 'string') return value === undefined ? '' : JSON.stringify(value, null, 2);
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const fieldsOf = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
