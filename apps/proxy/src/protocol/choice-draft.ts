import type { JsonObject, JsonValue } from '@retrace/client';
import { logprobsOf, sampledIdsOf, unreadableIds } from './engine-tokens.js';
import { hasOnlyObjects, isObject, numberOf, objectOf, objectsOf, textOf } from './json-fields.js';

interface CallDraft {
  id: string;
  name: string;
  readonly arguments: string[];
}

/** One choice of a streamed answer, which grows by chunks, and is a choice of a whole answer in the end. */
export class ChoiceDraft {
  private readonly texts: string[] = [];
  private readonly content: string[] = [];
  private readonly refusal: string[] = [];
  private readonly reasoning: string[] = [];
  private readonly calls = new Map<number, CallDraft>();
  private finishReason: string | null = null;
  private sampledIds: number[] | null = null;
  private logprobs: (number | null)[] | null = null;

  constructor(readonly index: number) {}

  /** Whether a tool is called of which no event told the name. */
  get hasNamelessCall(): boolean {
    return [...this.calls.values()].some(({ name }) => name === '');
  }

  /** @returns whether all of the chunk could be read; if not, nothing of it is added */
  add(choice: JsonObject): boolean {
    if (!isReadable(choice)) return false;
    const delta = objectOf(choice.delta);
    push(this.texts, choice.text);
    push(this.content, delta.content);
    push(this.refusal, delta.refusal);
    push(this.reasoning, delta.reasoning_content ?? delta.reasoning);
    objectsOf(delta.tool_calls).forEach((call, i) => {
      this.addCall(numberOf(call.index) ?? i, call);
    });
    this.finishReason = textOf(choice.finish_reason) ?? this.finishReason;
    const ids = sampledIdsOf(choice);
    if (ids !== null) (this.sampledIds ??= []).push(...ids);
    const logprobs = logprobsOf(choice);
    if (logprobs !== null) (this.logprobs ??= []).push(...logprobs);
    return true;
  }

  /** The choice as a whole answer has it. `text` is of completions, `message` of chat completions. */
  finish(): JsonObject {
    const toolCalls = [...this.calls].sort(([a], [b]) => a - b).map(([, call]) => callOf(call));
    return {
      index: this.index,
      text: this.texts.join(''),
      message: {
        role: 'assistant',
        content: this.content.length > 0 ? this.content.join('') : null,
        ...(this.refusal.length > 0 && { refusal: this.refusal.join('') }),
        ...(this.reasoning.length > 0 && { reasoning_content: this.reasoning.join('') }),
        ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
      },
      finish_reason: this.finishReason,
      token_ids: this.sampledIds,
      logprobs: this.logprobs && { token_logprobs: this.logprobs },
    };
  }

  private addCall(index: number, { id, function: called, custom }: JsonObject): void {
    const draft = this.calls.get(index) ?? { id: '', name: '', arguments: [] };
    const { name, arguments: given, input } = objectOf(called ?? custom);
    // Some servers repeat the id and the name in each chunk.
    if (draft.id === '') draft.id = textOf(id) ?? '';
    if (draft.name === '') draft.name = textOf(name) ?? '';
    push(draft.arguments, given ?? input);
    this.calls.set(index, draft);
  }
}

function callOf({ id, name, arguments: given }: CallDraft): JsonObject {
  return { id, type: 'function', function: { name, arguments: given.join('') } };
}

/** Whether what this draft reads of a chunk has the types that it has by the protocol. */
function isReadable(choice: JsonObject): boolean {
  const { text, delta = null } = choice;
  if (delta !== null && !isObject(delta)) return false;
  const { content, refusal, reasoning_content, reasoning, tool_calls } = objectOf(delta);
  return (
    [text, content, refusal, reasoning_content, reasoning].every(isTextOrAbsent) &&
    hasOnlyObjects(tool_calls) &&
    unreadableIds(choice) === undefined
  );
}

function isTextOrAbsent(value: JsonValue | undefined): boolean {
  return value == null || typeof value === 'string';
}

function push(texts: string[], value: JsonValue | undefined): void {
  if (typeof value === 'string' && value !== '') texts.push(value);
}
