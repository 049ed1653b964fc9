import type { JsonObject, JsonValue } from '@retrace/client';
import type { EngineAnswer } from './engine-call.js';
import { eventObject, numberOf, objectOf, textOf } from './json-fields.js';
import type { RecordedCall, SseEvent, StreamReader } from './protocol.js';

/** A block that grows. */
interface DraftBlock {
  readonly block: JsonObject;
  text: string;
  thinking: string;
  /** Arguments of a tool as the model writes them: JSON, in pieces. */
  json: string;
}

/** Reads the events of a streamed message: `message_start`, each block's start, deltas and stop, `message_delta`, `message_stop`. */
export class MessagesReader implements StreamReader {
  private message: JsonObject = {};
  private error: JsonObject | null = null;
  private isStopped = false;
  private readonly blocks = new Map<number, DraftBlock>();

  constructor(private readonly record: (answer: EngineAnswer) => RecordedCall) {}

  add({ data }: SseEvent): void {
    const event = eventObject(data);
    if (event === null) return;
    const index = numberOf(event.index) ?? 0;
    switch (textOf(event.type) ?? '') {
      case 'message_start':
        this.message = objectOf(event.message);
        break;
      case 'content_block_start':
        this.blocks.set(index, { block: objectOf(event.content_block), text: '', thinking: '', json: '' });
        break;
      case 'content_block_delta':
        this.addDelta(index, objectOf(event.delta));
        break;
      case 'message_delta':
        this.message = {
          ...this.message,
          ...objectOf(event.delta),
          usage: addedUsage(objectOf(this.message.usage), objectOf(event.usage)),
        };
        break;
      case 'message_stop':
        this.isStopped = true;
        break;
      case 'error':
        this.error = objectOf(event.error);
    }
  }

  finish(isComplete: boolean): RecordedCall {
    const content = [...this.blocks].sort(([a], [b]) => a - b).map(([, draft]) => blockOf(draft));
    const body = { ...this.message, content, ...(this.error && { error: this.error }) };
    const isCut = this.error === null && !(isComplete && this.isStopped);
    return this.record({ status: 200, body, isCut });
  }

  private addDelta(index: number, delta: JsonObject): void {
    const draft = this.blocks.get(index);
    if (draft === undefined) return;
    draft.text += textOf(delta.text) ?? '';
    draft.thinking += textOf(delta.thinking) ?? '';
    draft.json += textOf(delta.partial_json) ?? '';
  }
}

function blockOf({ block, text, thinking, json }: DraftBlock): JsonObject {
  const joined = (name: string, added: string): JsonObject =>
    added === '' ? {} : { [name]: `${textOf(block[name]) ?? ''}${added}` };
  // As text, exactly as the model wrote them.
  const input: JsonObject = json === '' ? {} : { input: json };
  return { ...block, ...joined('text', text), ...joined('thinking', thinking), ...input };
}

/** Counts of `message_delta` are totals; those that it leaves out, or gives as null, stay. */
function addedUsage(before: JsonObject, told: JsonObject): JsonObject {
  const given = Object.entries(told).filter((entry): entry is [string, JsonValue] => entry[1] != null);
  return { ...before, ...Object.fromEntries(given) };
}
