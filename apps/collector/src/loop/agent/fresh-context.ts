import type { TemplateTool, PromptFormat } from '@retrace/policy';
import type { Draft, HistoryContext, PastTurn } from './history-context.js';
import type { PromptRequest, PromptTexts } from './prompt-texts.js';

interface FreshOptions {
  readonly prompts: PromptFormat;
  readonly texts: PromptTexts;
  readonly tools: readonly TemplateTool[] | undefined;
  /** Most turns of the past that a prompt shows. */
  readonly numShown: number;
}

/** Each prompt is a conversation of its own: one message that tells of the newest turns. */
export class FreshContext implements HistoryContext {
  private turns: PastTurn[] = [];

  constructor(private readonly options: FreshOptions) {}

  /** Number of turns since the beginning, or since they were forgotten. */
  get numTurns(): number {
    return this.turns.length;
  }

  *drafts(request: PromptRequest): Iterable<Draft> {
    for (let numShown = this.mostShown; numShown >= 0; numShown--) yield this.draft(request, numShown);
  }

  shortest(request: PromptRequest): Draft {
    return this.draft(request, 0);
  }

  append(_draft: Draft, turn: PastTurn): void {
    this.turns.push(turn);
    if (this.turns.length > this.options.numShown) this.turns.shift();
  }

  /** Forgets all turns, because a summary replaces them. */
  forget(): void {
    this.turns = [];
  }

  private get mostShown(): number {
    return Math.min(this.options.numShown, this.turns.length);
  }

  private draft(request: PromptRequest, numShown: number): Draft {
    const { prompts, texts, tools } = this.options;
    const history = this.turns.slice(this.turns.length - numShown).map(({ shown }) => shown);
    const userText = texts.user(request, history);
    const messages = [...texts.system(request.values), { role: 'user', content: userText } as const];
    const tokenIds = prompts.conversation(messages, { tools });
    return { tokenIds, keptPrefixTokens: 0, messages, userText, numHiddenTurns: this.mostShown - numShown };
  }
}
