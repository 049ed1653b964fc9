import type { ResponsesItem } from '@retrace/client/messages';

/** One answered call, as the server stored it. */
export interface StoredResponse {
  readonly id: string;
  /** The response that this one went on from; null at the start of a conversation. */
  readonly previousId: string | null;
  /** Of OpenAI's Conversations API; null for none. */
  readonly conversationId: string | null;
  readonly input: readonly ResponsesItem[];
  readonly output: readonly ResponsesItem[];
}

/** Characters of text in items; some 128 MB of memory. */
const MAX_CHARACTERS = 64_000_000;

/**
 * Items that clients of the Responses API name by an id in place of sending them: the conversation up to a response
 * (`previous_response_id`, `conversation`) and single items (`item_reference`). The oldest responses are forgotten first.
 */
export class ResponseMemory {
  private readonly responses = new Map<string, StoredResponse & { readonly size: number }>();
  private readonly items = new Map<string, ResponsesItem>();
  private readonly lastOfConversation = new Map<string, string>();
  private size = 0;

  constructor(private readonly maxCharacters = MAX_CHARACTERS) {}

  remember(response: StoredResponse): void {
    this.forget(response.id);
    const size = [...response.input, ...response.output].reduce((sum, item) => sum + measureSize(item), 0);
    this.size += size;
    this.responses.set(response.id, { ...response, size });
    for (const item of response.output) if (item.id !== undefined) this.items.set(item.id, item);
    if (response.conversationId !== null) this.lastOfConversation.set(response.conversationId, response.id);
    for (const oldest of this.responses.keys()) {
      if (this.size <= this.maxCharacters) break;
      this.forget(oldest);
    }
  }

  /** An item of an answer, by its id. */
  item(id: string): ResponsesItem | undefined {
    return this.items.get(id);
  }

  /** Id of the last response of a conversation. */
  lastResponseOf(conversationId: string): string | null {
    return this.lastOfConversation.get(conversationId) ?? null;
  }

  /** All items up to a response and its own, in order; null when they are not all known. */
  itemsUpTo(responseId: string): readonly ResponsesItem[] | null {
    const parts: (readonly ResponsesItem[])[] = [];
    const seen = new Set<string>();
    for (let id: string | null = responseId; id !== null;) {
      const response = this.responses.get(id);
      // A server that gives each response the same id makes a circle.
      if (response === undefined || seen.has(id)) return null;
      seen.add(id);
      parts.push(response.output, response.input);
      id = response.previousId;
    }
    return parts.reverse().flat();
  }

  private forget(id: string): void {
    const response = this.responses.get(id);
    if (response === undefined) return;
    this.responses.delete(id);
    this.size -= response.size;
    for (const item of response.output) if (item.id !== undefined) this.items.delete(item.id);
    const { conversationId } = response;
    if (conversationId !== null && this.lastOfConversation.get(conversationId) === id)
      this.lastOfConversation.delete(conversationId);
  }
}

/** Characters of all texts in a value. */
function measureSize(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, field) => sum + measureSize(field), 0);
}
