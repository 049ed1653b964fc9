import { PolicyError } from '../policy-error.js';
import type { ChatMessage, ChatTemplate, TemplateTool } from './chat-template.js';
import { breakAllMarkers, breakMarkers, encodeBroken, encodePlain } from './plain-text.js';
import type { Tokenizer } from './tokenizer.js';

/**
 * Turns observations into the tokens that precede an agent's turn. An observation is always plain text: only the format's
 * own markers become special tokens.
 */
export interface PromptFormat {
  /** Any of these ends the agent's turn. */
  readonly stopTokenIds: readonly number[];
  /** The tokens of a context that begins with this observation. */
  opening(observation: string): Int32Array;
  /**
   * The tokens of a whole conversation, up to where the agent's next turn begins. All of its texts are plain text, those of the agent too.
   *
   * @param tools given to the chat template, where there is one
   */
  conversation(messages: readonly ChatMessage[], tools?: readonly TemplateTool[]): Int32Array;
  /**
   * The tokens between two turns of the agent.
   *
   * @param turnIsClosed whether the turn ended with a stop token, not at its maximum length
   */
  continuation(observation: string, turnIsClosed: boolean): Int32Array;
}

/** The observation, closed by the end-of-turn token. */
export class PlainPromptFormat implements PromptFormat {
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

  conversation(messages: readonly ChatMessage[]): Int32Array {
    const parts = messages.map(({ content }) => this.continuation(content));
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
  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly template: ChatTemplate,
    readonly stopTokenIds: readonly number[],
  ) {}

  opening(observation: string): Int32Array {
    return this.conversation([{ role: 'user', content: observation }]);
  }

  conversation(messages: readonly ChatMessage[], tools?: readonly TemplateTool[]): Int32Array {
    const contents = messages.map(({ content }) => content);
    const { texts, breakMark } = breakAllMarkers(this.tokenizer, contents);
    const broken = messages.map(({ role }, i) => ({ role, content: texts[i] }));
    const text = this.template.render(broken, { addGenerationPrompt: true, tools });
    return encodeBroken(this.tokenizer, { text, breakMark });
  }

  continuation(observation: string, turnIsClosed: boolean): Int32Array {
    const { text: content, breakMark } = breakMarkers(this.tokenizer, observation);
    const messages = [
      { role: 'user', content: '' },
      { role: 'assistant', content: SPOKEN_TURN },
      { role: 'user', content },
    ] as const;
    const text = this.template.render(messages, { addGenerationPrompt: true });
    const start = text.indexOf(SPOKEN_TURN);
    if (start < 0) {
      throw new PolicyError('INVALID_FILE', 'the chat template leaves the turns of the assistant out');
    }
    const tokenIds = encodeBroken(this.tokenizer, {
      text: text.slice(start + SPOKEN_TURN.length),
      breakMark,
    });
    return turnIsClosed && this.stopTokenIds.includes(tokenIds[0]) ? tokenIds.subarray(1) : tokenIds;
  }
}
