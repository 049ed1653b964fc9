import type { ChatMessage, ContentPart, ToolCall } from '../wire/records.js';

/** Images in a message that are larger are left out: Retrace takes images by reference. */
const MAX_INLINE_CHARACTERS = 4_096;

/** A message without fields that are undefined, in one order of fields, so that equal messages are equal as JSON. */
export function chatMessage(message: ChatMessage): ChatMessage {
  const { role, content, reasoning_content, tool_calls, tool_call_id, name } = message;
  return {
    role,
    content,
    ...(reasoning_content && { reasoning_content }),
    ...(tool_calls && tool_calls.length > 0 && { tool_calls }),
    ...(tool_call_id !== undefined && { tool_call_id }),
    ...(name !== undefined && { name }),
  };
}

/** @param input the arguments: an object, or JSON text as the model wrote it */
export function toolCall(id: string, name: string, input: unknown): ToolCall {
  return {
    id,
    type: 'function',
    function: { name, arguments: typeof input === 'string' ? input : jsonText(input) },
  };
}

/** Parts as the content of a message: plain text where they are nothing else, null where there are none. */
export function contentOf(parts: readonly ContentPart[]): ChatMessage['content'] {
  if (parts.length === 0) return null;
  const isText = parts.every((part) => part.type === 'text');
  return isText ? parts.map((part) => ('text' in part ? part.text : '')).join('') : parts;
}

/** An image by its address; one that is inline and larger than 4 kB becomes a text that says so. */
export function imagePart(url: string): ContentPart {
  if (!url.startsWith('data:') || url.length <= MAX_INLINE_CHARACTERS)
    return { type: 'image_url', image_url: { url } };
  const mediaType = /^data:([^;,]*)/.exec(url)?.[1] ?? '';
  return leftOut(mediaType === '' ? 'file' : mediaType, `${url.length} characters inline`);
}

/** Says in place of a part what it was. */
export function leftOut(what: string, size: string): ContentPart {
  return { type: 'text', text: `[${what}, ${size}: not recorded]` };
}

/** JSON of any value; what is not JSON as its text. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return String(value);
  }
}

/** Text of a tool's result, which may be text or any value. */
export function resultText(value: unknown): string {
  return typeof value === 'string' ? value : jsonText(value);
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : resultText(error);
}
