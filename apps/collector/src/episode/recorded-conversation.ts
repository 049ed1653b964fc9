import type { ChatMessage, TemplateTool } from '@retrace/policy';
import type { Json } from '@retrace/trajectory';

/** Parts of a prompt that say what it showed. */
interface ShownTokens {
  readonly observation: { readonly text: string };
  readonly tokenIds: Int32Array;
  readonly keptPrefixTokens: number;
  readonly numHiddenTurns?: number;
}

/** Parts of a turn that say what the model answered. */
interface Answer {
  readonly action: string;
  readonly tokenIds: Int32Array;
  readonly output?: Json;
}

/** A prompt as its model was shown it. */
export interface ShownPrompt {
  readonly prompt: ShownTokens;
  /** The conversation that the prompt shows, at least one message; null where no model was asked. */
  readonly messages: readonly ChatMessage[] | null;
  /** Tools that the prompt describes to the model (default none). */
  readonly tools?: readonly TemplateTool[];
}

/** How a step stores what its model was shown and answered. */
export interface StoredMessages {
  /** As `StepRecorded.messages`; null where they follow from observation, action and tokens. */
  readonly messages: Json;
  /** Fields of `StepRecorded.info` that data sets read. */
  readonly marks: Readonly<Record<string, Json>>;
}

/**
 * The conversation of an episode as its steps store it. A step has the messages that its prompt added, and the mark `keptMessages` where the
 * prompt did not keep all that was said before. It has none where the prompt shows its observation as it is, so that no text is stored twice.
 */
export class RecordedConversation {
  private said: readonly ChatMessage[] = [];
  /** Tokens of the context, which say what a step without messages kept. */
  private numTokens = 0;
  private tools = NO_TOOLS;

  store({ prompt, messages, tools = NO_TOOLS }: ShownPrompt, turn: Answer): StoredMessages {
    // A step without a call of the model is no part of a conversation.
    if (messages === null) return { messages: { input: [], output: null }, marks: {} };
    const before = this.said;
    const numKept = Math.min(numEqual(before, messages), messages.length - 1);
    const added = messages.slice(numKept);
    const isPlain = turn.output === undefined && isObservation(added, prompt);
    const numImplied = isPlain ? this.numKeptByTokens(prompt) : before.length;
    this.said = [...messages, { role: 'assistant', content: turn.action }];
    this.numTokens = prompt.keptPrefixTokens + prompt.tokenIds.length + turn.tokenIds.length;
    return {
      messages: isPlain ? null : listMessages(added, turn),
      marks: { ...(numImplied !== numKept && { keptMessages: numKept }), ...this.newTools(tools) },
    };
  }

  /** Number of messages that a step without messages kept, by its tokens; null where they don't say. */
  private numKeptByTokens({ keptPrefixTokens, numHiddenTurns }: ShownTokens): number | null {
    if (keptPrefixTokens === this.numTokens) return this.said.length;
    return keptPrefixTokens === 0 && numHiddenTurns === undefined ? 0 : null;
  }

  private newTools(tools: readonly TemplateTool[]): Readonly<Record<string, Json>> {
    if (tools === this.tools) return {};
    this.tools = tools;
    return { toolDefinitions: tools as unknown as Json };
  }
}

const NO_TOOLS: readonly TemplateTool[] = [];

function listMessages(input: readonly ChatMessage[], { action, output }: Answer): Json {
  return {
    input: input.map(({ role, content }) => ({ role, content })),
    output: output ?? { role: 'assistant', content: action },
  };
}

/** Whether messages are the text of the environment and nothing else. */
function isObservation(messages: readonly ChatMessage[], { observation }: ShownTokens): boolean {
  const [{ role, content }] = messages;
  return messages.length === 1 && role === 'user' && content === observation.text;
}

/** Number of messages with which both conversations begin. */
function numEqual(left: readonly ChatMessage[], right: readonly ChatMessage[]): number {
  const different = left.findIndex(
    ({ role, content }, i) => right.at(i)?.role !== role || right.at(i)?.content !== content,
  );
  return different < 0 ? left.length : different;
}
