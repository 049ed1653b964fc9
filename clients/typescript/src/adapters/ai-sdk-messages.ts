import type { ChatMessage, ContentPart } from '../wire/records.js';
import {
  chatMessage,
  contentOf,
  errorText,
  imagePart,
  jsonText,
  leftOut,
  resultText,
  toolCall,
} from './chat-message.js';

/** A part of a message or of an answer of the AI SDK, by the fields that are read here. */
export interface AiSdkPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly image?: unknown;
  readonly data?: unknown;
  readonly file?: { readonly mediaType?: string };
  readonly mediaType?: string;
}

/** A message of the AI SDK (`ModelMessage`). */
export interface AiSdkMessage {
  readonly role: string;
  readonly content: string | readonly AiSdkPart[];
}

export type AiSdkInstructions = string | AiSdkMessage | readonly AiSdkMessage[] | undefined;

/** A prompt as chat messages: each result of a tool is a message of its own. */
export function promptMessages(
  instructions: AiSdkInstructions,
  messages: readonly AiSdkMessage[] = [],
): ChatMessage[] {
  const system =
    typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : (instructions ?? []);
  return [...(Array.isArray(system) ? system : [system]), ...messages].flatMap(fromMessage);
}

/** The answer of a model as the agent's message. */
export function outputMessage(content: readonly AiSdkPart[] | undefined): ChatMessage | null {
  return content ? assistantMessage(content) : null;
}

/** Text of the result of a tool, as the model is shown it. */
export function toolOutputText({ type, output, error }: AiSdkPart): string {
  return type === 'tool-error' ? errorText(error) : resultText(output);
}

function fromMessage({ role, content }: AiSdkMessage): ChatMessage[] {
  if (typeof content === 'string') return [chatMessage({ role, content })];
  const results = content.filter(({ type }) => type === 'tool-result').map(toolMessage);
  if (role === 'tool') return results;
  // A provider that runs tools itself puts their results into its answer.
  if (role === 'assistant') return [assistantMessage(content), ...results];
  return [chatMessage({ role, content: contentOf(content.map(contentPart)) })];
}

function assistantMessage(parts: readonly AiSdkPart[]): ChatMessage {
  const ofType = (type: string) => parts.filter((part) => part.type === type);
  const others = parts.filter(({ type }) => ['text', 'file', 'image'].includes(type));
  return chatMessage({
    role: 'assistant',
    content: contentOf(others.map(contentPart)),
    reasoning_content: ofType('reasoning')
      .map(({ text }) => text ?? '')
      .join(''),
    tool_calls: ofType('tool-call').map(({ toolCallId, toolName, input }) =>
      toolCall(toolCallId ?? '', toolName ?? '', input),
    ),
  });
}

function toolMessage({ toolCallId, output }: AiSdkPart): ChatMessage {
  return chatMessage({ role: 'tool', content: wrappedText(output), tool_call_id: toolCallId ?? '' });
}

/** Text of a `ToolResultOutput`: the value, without the word that says what it is. */
function wrappedText(output: unknown): string {
  if (typeof output !== 'object' || output === null || !('type' in output)) return resultText(output);
  if (output.type === 'content' && 'value' in output && Array.isArray(output.value)) {
    return (output.value as AiSdkPart[]).map((part) => part.text ?? jsonText(contentPart(part))).join('\n');
  }
  if (output.type === 'execution-denied')
    return 'reason' in output ? resultText(output.reason) : 'execution denied';
  return 'value' in output ? resultText(output.value) : jsonText(output);
}

function contentPart(part: AiSdkPart): ContentPart {
  const { type, text, mediaType = part.file?.mediaType ?? '' } = part;
  if (type === 'text') return { type: 'text', text: text ?? '' };
  const source = readAddress(part.image ?? part.data);
  if (source !== null && (type === 'image' || mediaType.startsWith('image/'))) return imagePart(source);
  return leftOut(mediaType === '' ? type : mediaType, source ?? 'inline');
}

/** The address of data that is not inline; null for bytes. */
function readAddress(data: unknown): string | null {
  if (data instanceof URL) return data.href;
  if (typeof data === 'object' && data !== null && 'url' in data) return readAddress(data.url);
  return typeof data === 'string' && /^(https?|data):/.test(data) ? data : null;
}
