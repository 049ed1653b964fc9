import { isDeepStrictEqual } from 'node:util';
import type { WireMessage } from '@retrace/recording';

/** The messages that a call added to its conversation. */
export interface AddedMessages {
  readonly input: readonly WireMessage[];
  /** Whether the prompt did not go on from the context, as after a handoff, a summary or a change of the instructions. */
  readonly isRewritten: boolean;
}

/** The messages of a conversation so far, for sources that record whole prompts. */
export class ConversationContext {
  private messages: readonly WireMessage[] = [];
  private readonly toolResults = new Set<string>();

  /**
   * Takes a call and returns the messages that it added: those after the ones that the context had, where the prompt continues it; the
   * whole prompt, where it does not. A prompt that the source did not record is none that was rewritten.
   */
  append(prompt: readonly WireMessage[], output: WireMessage | null): AddedMessages {
    const isUnknown = prompt.length === 0;
    const continues =
      prompt.length >= this.messages.length &&
      this.messages.every((message, index) => isSameMessage(message, prompt[index]));
    const added = continues ? prompt.slice(this.messages.length) : prompt;
    const before = isUnknown ? this.messages : prompt;
    this.messages = output === null ? before : [...before, output];
    for (const { tool_call_id: id } of added) if (id !== undefined) this.toolResults.add(id);
    return { input: added, isRewritten: !continues && !isUnknown };
  }

  /** Whether a prompt had the result of this tool call. */
  hasToolResult(id: string | undefined): boolean {
    return id !== undefined && this.toolResults.has(id);
  }
}

/** Whether two messages say the same. Sources differ in whether they repeat reasoning, and in "" or null beside tool calls. */
function isSameMessage(a: WireMessage, b: WireMessage): boolean {
  return (
    a.role === b.role &&
    isDeepStrictEqual(a.content ?? '', b.content ?? '') &&
    isDeepStrictEqual(a.tool_calls ?? [], b.tool_calls ?? []) &&
    (a.tool_call_id ?? '') === (b.tool_call_id ?? '')
  );
}
