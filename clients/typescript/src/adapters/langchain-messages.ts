import type { ChatMessage, ContentPart } from '../wire/records.js';
import { chatMessage, contentOf, imagePart, leftOut, toolCall } from './chat-message.js';
import { isReasoningPart, reasoningOf } from './reasoning.js';

/** A message of LangChain, by the fields that are read here. */
export interface LangChainMessage {
  getType?(): string;
  readonly content?: unknown;
  readonly name?: string;
  /** Role of a `ChatMessage`, whose type is `generic`. */
  readonly role?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  readonly additional_kwargs?: Readonly<Record<string, unknown>>;
}

interface Block {
  readonly type?: string;
  readonly text?: string;
  readonly image_url?: string | { readonly url?: string };
  readonly url?: string;
  readonly mimeType?: string;
}

const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  ai: 'assistant',
  system: 'system',
  tool: 'tool',
};
/** Blocks that name calls of tools, which `tool_calls` holds. */
const CALL_BLOCKS = new Set(['tool_use', 'tool_call', 'function_call']);

/** A message of LangChain as a chat message. */
export function fromLangChain(message: LangChainMessage): ChatMessage {
  const type = message.getType?.() ?? 'generic';
  const blocks = readBlocks(message.content);
  return chatMessage({
    role: ROLES[type] ?? message.role ?? type,
    content: contentOf(blocks.flatMap(listParts)),
    reasoning_content: reasoningOf({ ...message.additional_kwargs, content: blocks }),
    tool_calls: (message.tool_calls ?? []).map(({ id, name, args }) => toolCall(id ?? '', name, args)),
    ...(message.tool_call_id !== undefined && { tool_call_id: message.tool_call_id }),
    // The name of a tool is in its call.
    ...(message.name !== undefined && type !== 'tool' && { name: message.name }),
  });
}

function readBlocks(content: unknown): readonly Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return Array.isArray(content) ? (content as Block[]) : [];
}

function listParts(block: Block): ContentPart[] {
  const { type = 'part', text, image_url, url, mimeType } = block;
  if (CALL_BLOCKS.has(type) || isReasoningPart(block)) return [];
  if (text !== undefined) return [{ type: 'text', text }];
  const address = typeof image_url === 'string' ? image_url : (image_url?.url ?? url);
  return [address === undefined ? leftOut(mimeType ?? type, 'inline') : imagePart(address)];
}
