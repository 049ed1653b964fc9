import type { ChatTemplate, TemplateVariables } from './chat-template.js';
import { absentMark, encodeBroken, encodePlain, withBreaks } from './plain-text.js';
import type { Tokenizer } from './tokenizer.js';

/** A message as chat templates read it; other fields (`tool_calls`, `tool_call_id`, `name`) pass to the template. */
export interface ConversationMessage {
  readonly role: string;
  readonly content: string;
  readonly [field: string]: unknown;
}

export interface Conversation {
  readonly messages: readonly ConversationMessage[];
  /** Further variables of the template, such as `tools`. */
  readonly variables: TemplateVariables;
}

/** Writes whole conversations, up to the beginning of the assistant's next turn. */
export interface ConversationFormat {
  /** Whether roles and `variables` count. */
  readonly hasTemplate: boolean;
  /**
   * The tokens of a conversation. Texts in it can't become markers: only the template's own are special tokens, and in turns of the
   * assistant also the markers that are no special tokens (`<tool_call>`, `<think>`), as the model wrote them.
   *
   * @throws PolicyError `INVALID_FILE` when the template refuses the messages, `INVALID_TOKEN` as `Tokenizer.encode`
   */
  encode(conversation: Conversation): Int32Array;
}

/** Conversations in a model's chat template. */
export class TemplateConversationFormat implements ConversationFormat {
  readonly hasTemplate = true;
  private readonly specialMarkers: readonly string[];

  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly template: ChatTemplate,
  ) {
    const special = new Set(
      tokenizer
        .toJSON()
        .added_tokens.filter((token) => token.special)
        .map(({ content }) => content),
    );
    this.specialMarkers = tokenizer.markers.filter((marker) => special.has(marker));
  }

  encode({ messages, variables }: Conversation): Int32Array {
    const { markers } = this.tokenizer;
    const written = JSON.stringify([messages, variables]);
    const breakMark = absentMark((mark) => written.includes(mark));
    const broken = messages.map((message) =>
      broke(message, message.role === 'assistant' ? this.specialMarkers : markers, breakMark),
    );
    const text = this.template.render(broken as ConversationMessage[], {
      addGenerationPrompt: true,
      variables: broke(variables, markers, breakMark) as TemplateVariables,
    });
    return encodeBroken(this.tokenizer, { text, breakMark: text.includes(breakMark) ? breakMark : null });
  }
}

/** Conversations of models without a chat template: each message's text, closed by the end-of-turn token. */
export class PlainConversationFormat implements ConversationFormat {
  readonly hasTemplate = false;

  /** @param bosTokenId begins every context; null if the tokenizer has no such token */
  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly bosTokenId: number | null = null,
  ) {}

  encode({ messages }: Conversation): Int32Array {
    const { tokenizer, bosTokenId } = this;
    const tokens = messages.flatMap(({ content }) => [
      ...encodePlain(tokenizer, content),
      tokenizer.endOfTurnTokenId,
    ]);
    return Int32Array.from(bosTokenId === null ? tokens : [bosTokenId, ...tokens]);
  }
}

/** A copy of a value in which every text has its markers broken. */
function broke(value: unknown, markers: readonly string[], breakMark: string): unknown {
  if (typeof value === 'string') return withBreaks(value, markers, breakMark);
  if (Array.isArray(value)) return value.map((item) => broke(item, markers, breakMark));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, broke(item, markers, breakMark)]),
  );
}
