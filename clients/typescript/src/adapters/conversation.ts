import type { ChatMessage } from '../wire/records.js';

/** The part of a prompt that is new. */
export interface PromptDelta {
  readonly input: readonly ChatMessage[];
  /** Messages of the context so far that the prompt kept; null when it kept all. */
  readonly keptMessages: number | null;
}

/** The messages of one conversation so far, to find what each whole prompt adds to them. */
export class Conversation {
  private context: readonly string[] = [];

  /**
   * Compares a prompt with the context so far: all messages that a model has seen or made.
   *
   * The new messages are those after the longest common prefix, so a prompt whose history was rewritten says so.
   */
  next(prompt: readonly ChatMessage[]): PromptDelta {
    const asText = prompt.map(makeKey);
    let kept = 0;
    while (kept < this.context.length && kept < asText.length && this.context[kept] === asText[kept]) kept++;
    const isExtended = kept === this.context.length;
    this.context = asText;
    return { input: prompt.slice(kept), keptMessages: isExtended ? null : kept };
  }

  /** Adds the answer to the context, as the next prompt will hold it. */
  add(output: ChatMessage): void {
    this.context = [...this.context, makeKey(output)];
  }
}

/** A message without the fields of the agent's messages that some frameworks add to their history, or leave out of it. */
function makeKey(message: ChatMessage): string {
  return message.role === 'assistant'
    ? JSON.stringify({ ...message, reasoning_content: undefined, name: undefined })
    : JSON.stringify(message);
}
