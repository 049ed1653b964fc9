import type { ChatMessage, ContentPart, ToolCall } from '../wire/records.js';
import { chatMessage, contentOf, imagePart, jsonText, leftOut, toolCall } from './chat-message.js';

/** A JSON object of which nothing is known. */
type Fields = Readonly<Record<string, unknown>>;

/** Blocks that only Anthropic's API has in the content of a message. */
const OWN_BLOCKS: ReadonlySet<unknown> = new Set([
  'tool_use',
  'server_tool_use',
  'mcp_tool_use',
  'tool_result',
]);

/** Whether a message has blocks that messages of other APIs have not. */
export function isAnthropicMessage({ content }: Fields): boolean {
  return objectsOf(content).some(({ type, source }) => {
    return OWN_BLOCKS.has(type) || (type === 'image' && isObject(source));
  });
}

/** The conversation of a request to Anthropic's Messages API, system message first. */
export function anthropicMessages({ system, messages }: Fields): ChatMessage[] {
  const instructions = textOf(system) ?? contentOf(partsOf(objectsOf(system)));
  return [
    ...(instructions === null ? [] : [chatMessage({ role: 'system', content: instructions })]),
    ...objectsOf(messages).flatMap(chatMessagesOf),
  ];
}

/** One message of either side. Results of tools, which are blocks of a user's message, become messages of their own. */
function chatMessagesOf({ role, content }: Fields): ChatMessage[] {
  const name = textOf(role) ?? 'user';
  const text = textOf(content);
  if (text !== null) return [chatMessage({ role: name, content: text })];
  const blocks = objectsOf(content);
  if (name === 'assistant') return [anthropicAnswer(blocks)];
  const messages: ChatMessage[] = [];
  let parts: ContentPart[] = [];
  const finish = () => {
    if (parts.length > 0) messages.push(chatMessage({ role: name, content: contentOf(parts) }));
    parts = [];
  };
  for (const block of blocks) {
    if (block.type === 'tool_result') {
      finish();
      messages.push(resultMessage(block));
    } else parts.push(partOf(block));
  }
  finish();
  return messages;
}

/** The blocks of an answer as one message: texts, thinking and calls of tools, each in their order. */
export function anthropicAnswer(blocks: readonly Fields[]): ChatMessage {
  const parts: ContentPart[] = [];
  const reasoning: string[] = [];
  const calls: ToolCall[] = [];
  for (const block of blocks) {
    const call = callOf(block);
    if (call) calls.push(call);
    else if (block.type === 'thinking') reasoning.push(textOf(block.thinking) ?? '');
    else if (block.type !== 'redacted_thinking') parts.push(partOf(block));
  }
  return chatMessage({
    role: 'assistant',
    content: contentOf(parts),
    reasoning_content: reasoning.filter((text) => text !== '').join('\n'),
    tool_calls: calls,
  });
}

/** A call of a tool, by the client, by Anthropic's own servers or over MCP; null for other blocks. */
function callOf({ type, id, name, input }: Fields): ToolCall | null {
  if (type !== 'tool_use' && type !== 'server_tool_use' && type !== 'mcp_tool_use') return null;
  return toolCall(textOf(id) ?? '', textOf(name) ?? '', input ?? {});
}

function resultMessage({ tool_use_id, content }: Fields): ChatMessage {
  return chatMessage({
    role: 'tool',
    content: textOf(content) ?? contentOf(partsOf(objectsOf(content))),
    tool_call_id: textOf(tool_use_id) ?? '',
  });
}

function partsOf(blocks: readonly Fields[]): ContentPart[] {
  return blocks.map(partOf);
}

/** A block as a part. Documents, search results and results of Anthropic's own tools are named only. */
function partOf(block: Fields): ContentPart {
  const { type, text, source } = block;
  if (type === 'text') return { type: 'text', text: textOf(text) ?? '' };
  const image = type === 'image' ? addressOf(isObject(source) ? source : {}) : null;
  return image === null
    ? leftOut(textOf(type) ?? 'block', `${jsonText(block).length} characters inline`)
    : imagePart(image);
}

function addressOf({ type, media_type, data, url, file_id }: Fields): string | null {
  if (type === 'base64') return `data:${textOf(media_type) ?? ''};base64,${textOf(data) ?? ''}`;
  return textOf(url) ?? textOf(file_id);
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects in a list; [] for everything else. */
function objectsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
