import { isDeepStrictEqual } from 'node:util';
import type { WireMessage } from '@retrace/recording';

/** The messages of a conversation so far, for sources that record whole prompts. */
export class ConversationContext {
  private messages: readonly WireMessage[] = [];
  private readonly toolResults = new Set<string>();

  /**
   * Takes a call and returns the messages that it added: those after the ones that the context had, where the prompt continues it; the
   * whole prompt, where it does not.
   */
  append(prompt: readonly WireMessage[], output: WireMessage | null): readonly WireMessage[] {
    const continues =
      prompt.length >= this.messages.length &&
      this.messages.every((message, index) => isSameMessage(message, prompt[index]));
    const added = continues ? prompt.slice(this.messages.length) : prompt;
    this.messages = output === null ? prompt : [...prompt, output];
    for (const { tool_call_id: id } of added) if (id !== undefined) this.toolResults.add(id);
    return added;
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
