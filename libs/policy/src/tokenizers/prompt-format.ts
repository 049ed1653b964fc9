import { JinjaError, type RenderedText } from '@retrace/jinja';
import { PolicyError } from '../policy-error.js';
import type { ChatTemplate, ConversationMessage, TemplateVariables } from './chat-template.js';
import { messageForms } from './message-forms.js';
import { encodePlain, encodeSpans } from './plain-text.js';
import type { Tokenizer } from './tokenizer.js';

/**
 * Turns observations and conversations into the tokens that precede an agent's turn, in training and when served. Texts of others are always
 * plain text: only the format's own markers become special tokens.
 */
export interface PromptFormat {
  /** Any of these ends the agent's turn. */
  readonly stopTokenIds: readonly number[];
  /** Whether roles and variables of conversations count. */
  readonly hasTemplate: boolean;
  /** The tokens of a context that begins with this observation. */
  opening(observation: string): Int32Array;
  /**
   * The tokens of a whole conversation, up to where the agent's next turn begins. Texts in it can't become special tokens; in messages of the
   * assistant the markers that are none (`<tool_call>`, `<think>`) are tokens, as the model wrote them.
   *
   * @param variables of the chat template, where there is one, such as `tools`
   * @throws PolicyError `INVALID_FILE` when the template refuses the messages, `INVALID_TOKEN` as `Tokenizer.encode`
   */
  conversation(messages: readonly ConversationMessage[], variables?: TemplateVariables): Int32Array;
  /**
   * The tokens between two turns of the agent.
   *
   * @param turnIsClosed whether the turn ended with a stop token, not at its maximum length
   */
  continuation(observation: string, turnIsClosed: boolean): Int32Array;
}

/** The observation, closed by the end-of-turn token; of conversations each message's text, whatever its role. */
export class PlainPromptFormat implements PromptFormat {
  readonly hasTemplate = false;
  readonly stopTokenIds: readonly number[];

  /** @param bosTokenId begins every context; null if the tokenizer has no such token */
  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly bosTokenId: number | null = null,
    stopTokenIds: readonly number[] = [tokenizer.endOfTurnTokenId],
  ) {
    this.stopTokenIds = stopTokenIds;
  }

  opening(observation: string): Int32Array {
    const prompt = this.continuation(observation);
    return this.bosTokenId === null ? prompt : Int32Array.of(this.bosTokenId, ...prompt);
  }

  conversation(messages: readonly ConversationMessage[]): Int32Array {
    const parts = messageForms(messages)[0].map(({ content }) =>
      this.continuation(typeof content === 'string' ? content : ''),
    );
    const bos = this.bosTokenId === null ? [] : [this.bosTokenId];
    return Int32Array.from([bos, ...parts].flatMap((part) => [...part]));
  }

  continuation(observation: string): Int32Array {
    const tokenIds = encodePlain(this.tokenizer, observation);
    const prompt = new Int32Array(tokenIds.length + 1);
    prompt.set(tokenIds);
    prompt[tokenIds.length] = this.tokenizer.endOfTurnTokenId;
    return prompt;
  }
}

/** Replaces the agent's earlier turn, whose tokens are in the context already, so that the text after it can be found. */
const SPOKEN_TURN = 'TURN-OF-THE-AGENT-THAT-WAS-SPOKEN';

/**
 * Writes each observation as a message of the user in the model's chat template. Earlier turns are never tokenized again: a
 * continuation is the text that the template puts after a turn of the assistant.
 */
export class ChatPromptFormat implements PromptFormat {
  readonly hasTemplate = true;

  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly template: ChatTemplate,
    readonly stopTokenIds: readonly number[],
  ) {}

  opening(observation: string): Int32Array {
    return this.conversation([{ role: 'user', content: observation }]);
  }

  conversation(messages: readonly ConversationMessage[], variables?: TemplateVariables): Int32Array {
    return encodeSpans(this.tokenizer, this.render(messages, variables));
  }

  continuation(observation: string, turnIsClosed: boolean): Int32Array {
    const messages = [
      { role: 'user', content: '' },
      { role: 'assistant', content: SPOKEN_TURN },
      { role: 'user', content: observation },
    ];
    const { text, spans } = this.render(messages);
    const start = text.indexOf(SPOKEN_TURN) + SPOKEN_TURN.length;
    if (start < SPOKEN_TURN.length) {
      throw new PolicyError('INVALID_FILE', 'the chat template leaves the turns of the assistant out');
    }
    const later = spans.filter((span) => span.start >= start);
    const tokenIds = encodeSpans(this.tokenizer, {
      text: text.slice(start),
      spans: later.map((span) => ({ ...span, start: span.start - start, end: span.end - start })),
    });
    return turnIsClosed && this.stopTokenIds.includes(tokenIds[0]) ? tokenIds.subarray(1) : tokenIds;
  }

  /** Renders the messages in the first form that the template reads as it is meant, or else takes at all. */
  private render(messages: readonly ConversationMessage[], variables?: TemplateVariables): RenderedText {
    const attempts = messageForms(messages).map(
      (form) => () => this.template.render(form, { addGenerationPrompt: true, variables }),
    );
    let best: RenderedText | null = null;
    let failure: PolicyError | null = null;
    for (const attempt of attempts) {
      try {
        const rendered = attempt();
        if (!rendered.hasMisread) return rendered;
        best ??= rendered;
      } catch (error) {
        if (!(error instanceof PolicyError) || isLimit(error.cause)) throw error;
        failure ??= error;
      }
    }
    if (best) return best;
    throw failure as PolicyError;
  }
}

function isLimit(cause: unknown): boolean {
  return cause instanceof JinjaError && cause.code === 'LIMIT';
}
