import type { JsonObject } from '@retrace/client';
import { isJsonObject } from '@retrace/trajectory/json';
import { ChoiceDraft } from './choice-draft.js';
import type { EngineAnswer } from '../calls/answer.js';
import { readPromptIds, unreadableIds } from '../tokens/engine-tokens.js';
import { EventsReader } from '../calls/events-reader.js';
import { hasOnlyObjects, asNumber, asObjects } from '../json/json-fields.js';
import type { RecordedCall } from '../calls/protocol.js';

const SUCCESS = 200;

/** Merges the chunks of a streamed answer, of chat completions or completions, into the answer that it would be without streaming. */
export class ChunksReader extends EventsReader {
  private head: JsonObject = {};
  private readonly choices = new Map<number, ChoiceDraft>();
  private promptIds: JsonObject['prompt_token_ids'] = null;
  private isDone = false;

  constructor(private readonly record: (answer: EngineAnswer) => RecordedCall) {
    super();
  }

  finish(isComplete: boolean): RecordedCall {
    const drafts = [...this.choices.values()].sort((a, b) => a.index - b.index);
    if (drafts.some((draft) => draft.hasNamelessCall)) this.miss('the first event of a tool call never came');
    const choices = drafts.map((draft) => draft.finish());
    const { error } = this.head;
    const isEnded =
      this.isDone || (choices.length > 0 && choices.every(({ finish_reason }) => finish_reason !== null));
    return this.record({
      status: isJsonObject(error) ? (asNumber(error.code) ?? SUCCESS) : SUCCESS,
      body: { ...this.head, choices, prompt_token_ids: this.promptIds },
      isCut: this.hole !== undefined || (!isEnded && !(isComplete && isJsonObject(error))),
      hole: this.hole,
    });
  }

  protected override end(): void {
    this.isDone = true;
  }

  protected read(chunk: JsonObject): void {
    const { choices, ...head } = chunk;
    // The usage comes in the last chunk, and null in those before it.
    this.head = { ...this.head, ...head, usage: head.usage ?? this.head.usage };
    this.promptIds ??= readPromptIds(chunk);
    if (!hasOnlyObjects(choices) || unreadableIds(chunk) !== undefined) this.miss();
    if (isJsonObject(head.error)) this.close();
    for (const choice of asObjects(choices)) {
      if (this.hole !== undefined) return;
      const index = asNumber(choice.index) ?? 0;
      const draft = this.choices.get(index) ?? new ChoiceDraft(index);
      this.choices.set(index, draft);
      if (!draft.add(choice)) this.miss();
    }
  }
}
