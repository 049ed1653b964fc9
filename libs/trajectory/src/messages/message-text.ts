import { isJsonObject, type Json } from '../json/json.js';

/**
 * The text of chat messages, each as `role: text`, a line each. Records of steps lack texts that these functions give, so what they give
 * for a message never changes without another schema version.
 */
export function inputText(messages: readonly Json[]): string {
  return messages
    .map((message) => `${isJsonObject(message) ? String(message.role) : ''}: ${messageText(message)}`)
    .join('\n');
}

/** The text of a message, and after it a line `name(arguments)` for each tool call. Images are shown by their address, long ones as `[image]`. */
export function messageText(message: Json): string {
  if (!isJsonObject(message)) return '';
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as unknown[]) : [];
  return [contentText(message.content), ...calls.map(callText)].filter((line) => line !== '').join('\n');
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map(partText).join('');
}

const MAX_ADDRESS_LENGTH = 500;

function partText(part: unknown): string {
  if (!isJsonObject(part)) return '';
  if (typeof part.text === 'string') return part.text;
  const url = isJsonObject(part.image_url) ? part.image_url.url : undefined;
  if (typeof url !== 'string') return '';
  return url.startsWith('data:') || url.length > MAX_ADDRESS_LENGTH ? '[image]' : `[image: ${url}]`;
}

function callText(call: unknown): string {
  if (!isJsonObject(call) || !isJsonObject(call.function)) return '';
  const { name, arguments: given } = call.function;
  return `${typeof name === 'string' ? name : ''}(${typeof given === 'string' ? given : ''})`;
}

/** Texts of a step that follow from its messages: those of the input as its observation, that of the output as its action. */
export function textsOfMessages(
  messages: Json,
): { readonly observation: string; readonly action: string } | null {
  if (!isJsonObject(messages) || !Array.isArray(messages.input)) return null;
  return {
    observation: inputText(messages.input as readonly Json[]),
    action: messageText((messages.output ?? null) as Json),
  };
}
