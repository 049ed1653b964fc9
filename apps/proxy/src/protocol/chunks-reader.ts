import type { JsonObject } from '@retrace/client';
import { ChoiceDraft } from './choice-draft.js';
import type { EngineAnswer } from './engine-call.js';
import { promptIdsOf } from './engine-tokens.js';
import { eventObject, isObject, numberOf, objectsOf } from './json-fields.js';
import type { RecordedCall, SseEvent, StreamReader } from './protocol.js';

const SUCCESS = 200;

/** Merges the chunks of a streamed answer, of chat completions or completions, into the answer that it would be without streaming. */
export class ChunksReader implements StreamReader {
  private head: JsonObject = {};
  private readonly choices = new Map<number, ChoiceDraft>();
  private promptIds: readonly number[] | null = null;
  private isDone = false;

  constructor(private readonly record: (answer: EngineAnswer) => RecordedCall) {}

  add({ data }: SseEvent): void {
    if (data === '[DONE]') {
      this.isDone = true;
      return;
    }
    const chunk = eventObject(data);
    if (chunk === null) return;
    const { choices, ...head } = chunk;
    // The usage comes in the last chunk, and null in those before it.
    this.head = { ...this.head, ...head, usage: head.usage ?? this.head.usage };
    this.promptIds ??= promptIdsOf(chunk);
    for (const choice of objectsOf(choices)) {
      const index = numberOf(choice.index) ?? 0;
      const draft = this.choices.get(index) ?? new ChoiceDraft(index);
      this.choices.set(index, draft);
      draft.add(choice);
    }
  }

  finish(isComplete: boolean): RecordedCall {
    const choices = [...this.choices.values()]
      .sort((a, b) => a.index - b.index)
      .map((draft) => draft.finish());
    const { error } = this.head;
    const isEnded =
      this.isDone || (choices.length > 0 && choices.every(({ finish_reason }) => finish_reason !== null));
    return this.record({
      status: isObject(error) ? (numberOf(error.code) ?? SUCCESS) : SUCCESS,
      body: { ...this.head, choices, prompt_token_ids: this.promptIds },
      isCut: !isEnded && !(isComplete && isObject(error)),
    });
  }
}
