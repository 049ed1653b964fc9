import type { ChatMessage, ContentPart, ToolCall } from '../wire/records.js';
import {
  chatMessage,
  contentOf,
  imagePart,
  jsonText,
  leftOut,
  resultText,
  toolCall,
} from './chat-message.js';
import { isReasoningPart } from './reasoning.js';

/** Types of the items that bring the result of a tool: of a function, of a custom tool, of a shell and so on. */
const RESULT_TYPE = /_call_(result|output)$/;

/** An item of the Responses API, or of the OpenAI Agents SDK, which names some fields otherwise. */
export interface ResponsesItem {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
  readonly summary?: unknown;
  readonly name?: string;
  readonly arguments?: unknown;
  /** Arguments of a custom tool, which are text. */
  readonly input?: unknown;
  readonly call_id?: string;
  readonly callId?: string;
  readonly id?: string;
  readonly output?: unknown;
}

interface Part {
  readonly type?: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly image?: unknown;
  readonly image_url?: unknown;
}

/** An agent's message that grows: its items come one by one. */
interface Draft {
  readonly parts: ContentPart[];
  readonly reasoning: string[];
  readonly calls: ToolCall[];
}

/** Items as chat messages: the agent's items between two others are one message. */
export function messagesOfItems(input: string | readonly ResponsesItem[] | undefined): ChatMessage[] {
  if (typeof input === 'string') return [chatMessage({ role: 'user', content: input })];
  const messages: ChatMessage[] = [];
  let draft: Draft | null = null;
  const finish = () => {
    if (draft) messages.push(draftMessage(draft));
    draft = null;
  };
  for (const item of input ?? []) {
    const other = otherMessage(item);
    if (other) {
      finish();
      messages.push(other);
    } else {
      draft ??= { parts: [], reasoning: [], calls: [] };
      addToDraft(draft, item);
    }
  }
  finish();
  return messages;
}

/** The items of one answer as the agent's message; null when there are none. */
export function outputOfItems(output: readonly ResponsesItem[] | undefined): ChatMessage | null {
  if (!output) return null;
  const draft: Draft = { parts: [], reasoning: [], calls: [] };
  for (const item of output) addToDraft(draft, item);
  return draftMessage(draft);
}

/** A message that is not the agent's; null for the agent's items. */
function otherMessage(item: ResponsesItem): ChatMessage | null {
  const { type = 'message', role } = item;
  if (RESULT_TYPE.test(type)) {
    return chatMessage({ role: 'tool', content: outputContent(item.output), tool_call_id: toCallId(item) });
  }
  if (type !== 'message' || role === undefined || role === 'assistant') return null;
  return chatMessage({ role, content: contentOf(partsOf(item.content)) });
}

function addToDraft(draft: Draft, item: ResponsesItem): void {
  const { type = 'message', name = '' } = item;
  if (type === 'message') draft.parts.push(...partsOf(item.content));
  else if (type === 'reasoning') draft.reasoning.push(...readTexts(item.summary), ...readTexts(item.content));
  else if (type === 'function_call') draft.calls.push(toolCall(toCallId(item), name, item.arguments ?? ''));
  else if (type === 'custom_tool_call') draft.calls.push(toolCall(toCallId(item), name, item.input ?? ''));
  // A tool that the provider runs itself.
  else
    draft.calls.push(toolCall(toCallId(item), name === '' ? type : name, item.arguments ?? jsonText(item)));
}

function draftMessage({ parts, reasoning, calls }: Draft): ChatMessage {
  return chatMessage({
    role: 'assistant',
    content: contentOf(parts),
    reasoning_content: reasoning.join('\n'),
    tool_calls: calls,
  });
}

function toCallId({ callId, call_id, id }: ResponsesItem): string {
  return callId ?? call_id ?? id ?? '';
}

/** Parts of a message of either API, by what they have in common, without those that are reasoning. */
export function partsOf(content: unknown): ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  const said = (content as (Part | string | null)[]).filter((part) => !isReasoningPart(part));
  return said.map((part) => {
    if (typeof part === 'string') return { type: 'text', text: part };
    if (typeof part !== 'object' || part === null) return leftOut('part', 'unreadable');
    const text = part.text ?? part.refusal;
    if (typeof text === 'string') return { type: 'text', text };
    const image = toImage(part);
    return typeof image === 'string' ? imagePart(image) : leftOut(part.type ?? 'part', 'inline');
  });
}

function readTexts(parts: unknown): string[] {
  if (!Array.isArray(parts)) return [];
  return (parts as (Part | null)[]).flatMap((part) =>
    typeof part?.text === 'string' && part.text !== '' ? [part.text] : [],
  );
}

/** Result of a tool: its text, or its parts if images are among them. */
function outputContent(output: unknown): ChatMessage['content'] {
  const hasImage = [output].flat().some((part) => toImage(part as Part | null) !== undefined);
  return hasImage ? partsOf([output].flat()) : outputText(output);
}

/** Text of the result of a tool: it comes as text, as a part with text, or as a list of parts. */
function outputText(output: unknown): string {
  if (Array.isArray(output)) return output.map(outputText).join('\n');
  if (typeof output === 'object' && output !== null && 'text' in output) return resultText(output.text);
  return resultText(output);
}

function toImage(part: Part | null): unknown {
  return readAddress(part?.image ?? part?.image_url);
}

/** Chat completions put the address of an image into an object. */
function readAddress(image: unknown): unknown {
  return typeof image === 'object' && image !== null && 'url' in image ? image.url : image;
}
