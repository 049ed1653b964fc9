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
  return readObjects(content).some(({ type, source }) => {
    return OWN_BLOCKS.has(type) || (type === 'image' && isObject(source));
  });
}

/** The conversation of a request to Anthropic's Messages API, system message first. */
export function anthropicMessages({ system, messages }: Fields): ChatMessage[] {
  const instructions = readText(system) ?? contentOf(readParts(readObjects(system)));
  return [
    ...(instructions === null ? [] : [chatMessage({ role: 'system', content: instructions })]),
    ...readObjects(messages).flatMap(readChatMessages),
  ];
}

/** One message of either side. Results of tools, which are blocks of a user's message, become messages of their own. */
function readChatMessages({ role, content }: Fields): ChatMessage[] {
  const name = readText(role) ?? 'user';
  const text = readText(content);
  if (text !== null) return [chatMessage({ role: name, content: text })];
  const blocks = readObjects(content);
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
    } else parts.push(readPart(block));
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
    const call = findCall(block);
    if (call) calls.push(call);
    else if (block.type === 'thinking') reasoning.push(readText(block.thinking) ?? '');
    else if (block.type !== 'redacted_thinking') parts.push(readPart(block));
  }
  return chatMessage({
    role: 'assistant',
    content: contentOf(parts),
    reasoning_content: reasoning.filter((text) => text !== '').join('\n'),
    tool_calls: calls,
  });
}

/** A call of a tool, by the client, by Anthropic's own servers or over MCP; null for other blocks. */
function findCall({ type, id, name, input }: Fields): ToolCall | null {
  if (type !== 'tool_use' && type !== 'server_tool_use' && type !== 'mcp_tool_use') return null;
  return toolCall(readText(id) ?? '', readText(name) ?? '', input ?? {});
}

function resultMessage({ tool_use_id, content }: Fields): ChatMessage {
  return chatMessage({
    role: 'tool',
    content: readText(content) ?? contentOf(readParts(readObjects(content))),
    tool_call_id: readText(tool_use_id) ?? '',
  });
}

function readParts(blocks: readonly Fields[]): ContentPart[] {
  return blocks.map(readPart);
}

/** A block as a part. Documents, search results and results of Anthropic's own tools are named only. */
function readPart(block: Fields): ContentPart {
  const { type, text, source } = block;
  if (type === 'text') return { type: 'text', text: readText(text) ?? '' };
  const image = type === 'image' ? findAddress(isObject(source) ? source : {}) : null;
  return image === null
    ? leftOut(readText(type) ?? 'block', `${jsonText(block).length} characters inline`)
    : imagePart(image);
}

function findAddress({ type, media_type, data, url, file_id }: Fields): string | null {
  if (type === 'base64') return `data:${readText(media_type) ?? ''};base64,${readText(data) ?? ''}`;
  return readText(url) ?? readText(file_id);
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects in a list; [] for everything else. */
function readObjects(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
