import type { ChatMessage, TemplateTool, PromptFormat } from '@retrace/policy';
import type { Draft, HistoryContext, PastTurn } from './history-context.js';
import type { PromptRequest, PromptTexts } from './prompt-texts.js';
import { joinTokens, numEqual } from './token-lists.js';

interface FullOptions {
  readonly prompts: PromptFormat;
  readonly texts: PromptTexts;
  readonly tools: readonly TemplateTool[] | undefined;
  readonly keepThoughts: boolean;
}

interface SpokenTurn extends PastTurn {
  readonly userText: string;
}

/** Separates the first message from a later one where the turns between them were dropped from the context. */
const GAP = '\n\n';

/**
 * One conversation that goes on. With thoughts, each prompt is appended to the context, and what the model sampled is never tokenized again.
 * Without them, the conversation is written again with the brief replies, and as many tokens are kept as are the same.
 */
export class FullContext implements HistoryContext {
  /** The turns that are in the context. */
  private turns: SpokenTurn[] = [];
  private firstUserText = '';
  private context: Int32Array = new Int32Array(0);

  constructor(private readonly options: FullOptions) {}

  *drafts(request: PromptRequest, maxTokens: number): Iterable<Draft> {
    yield this.plain(request);
    // A context that begins again fills at most half, so that the turns to come can be appended.
    for (let numShown = this.turns.length - 1; numShown > 0; numShown--) {
      const draft = this.restart(request, numShown);
      if (draft.tokenIds.length <= maxTokens / 2) yield draft;
    }
    if (this.turns.length > 0) yield this.shortest(request);
  }

  shortest(request: PromptRequest): Draft {
    return this.turns.length === 0 ? this.plain(request) : this.restart(request, 0);
  }

  append({ tokenIds, keptPrefixTokens, userText, numHiddenTurns }: Draft, turn: PastTurn): void {
    if (this.turns.length === 0) this.firstUserText = userText;
    this.context = joinTokens([this.context.subarray(0, keptPrefixTokens), tokenIds, turn.tokenIds]);
    this.turns = [...this.reopened(this.turns.slice(numHiddenTurns), numHiddenTurns), { ...turn, userText }];
  }

  /** All turns of the context, and the new message. */
  private plain(request: PromptRequest): Draft {
    const { prompts, texts, keepThoughts } = this.options;
    const userText = texts.user(request, []);
    const messages = [
      ...texts.system(request.values),
      ...this.spoken(this.turns),
      { role: 'user', content: userText } as const,
    ];
    const isFirst = this.turns.length === 0;
    const part = { messages, userText, numHiddenTurns: 0 };
    if (isFirst || !keepThoughts) return { ...part, ...this.rewritten(messages) };
    const tokenIds = prompts.continuation(userText, this.isClosed(this.context));
    return { ...part, tokenIds, keptPrefixTokens: this.context.length };
  }

  /** A context that begins again: the first message, with the one before the oldest turn that is left. */
  private restart(request: PromptRequest, numShown: number): Draft {
    const { prompts, texts, tools, keepThoughts } = this.options;
    const userText = texts.user(request, []);
    const left = this.turns.slice(this.turns.length - numShown);
    const later = [...left.map((turn) => turn.userText), userText];
    const opening = `${this.firstUserText}${GAP}${later[0]}`;
    const system = texts.system(request.values);
    const last = numShown === 0 ? opening : userText;
    const numHiddenTurns = this.turns.length - numShown;
    const spoken = this.spoken(this.reopened(left, numHiddenTurns));
    const messages: ChatMessage[] = [...system, ...spoken, { role: 'user', content: last }];
    const part = { messages, userText: last, numHiddenTurns, keptPrefixTokens: 0 };
    if (!keepThoughts) return { ...part, tokenIds: prompts.conversation(messages, { tools }) };
    const parts: Int32Array[] = [
      prompts.conversation([...system, { role: 'user', content: opening }], { tools }),
    ];
    for (const [i, { tokenIds }] of left.entries()) {
      parts.push(tokenIds, prompts.continuation(later[i + 1], this.isClosed(tokenIds)));
    }
    return { ...part, tokenIds: joinTokens(parts) };
  }

  /** A whole conversation as the tokens that follow the part of the context that it shares. */
  private rewritten(messages: readonly ChatMessage[]): Pick<Draft, 'tokenIds' | 'keptPrefixTokens'> {
    const { prompts, tools } = this.options;
    const whole = prompts.conversation(messages, { tools });
    const keptPrefixTokens = Math.min(numEqual(this.context, whole), whole.length - 1);
    return { keptPrefixTokens, tokenIds: whole.slice(keptPrefixTokens) };
  }

  /** Puts the first message before the oldest turn, where turns between them are left out. */
  private reopened(turns: readonly SpokenTurn[], numHidden: number): readonly SpokenTurn[] {
    if (numHidden === 0) return turns;
    return turns.map((turn, i) =>
      i === 0 ? { ...turn, userText: `${this.firstUserText}${GAP}${turn.userText}` } : turn,
    );
  }

  private spoken(turns: readonly SpokenTurn[]): readonly ChatMessage[] {
    return turns.flatMap(({ userText, reply, briefReply }) => [
      { role: 'user', content: userText } as const,
      { role: 'assistant', content: this.options.keepThoughts ? reply : briefReply } as const,
    ]);
  }

  /** Whether the agent ended its turn itself. */
  private isClosed(tokenIds: Int32Array): boolean {
    return tokenIds.length > 0 && this.options.prompts.stopTokenIds.includes(tokenIds[tokenIds.length - 1]);
  }
}
