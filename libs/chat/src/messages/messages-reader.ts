import type { JsonObject, JsonValue } from '@retrace/client';
import { isJsonObject } from '@retrace/trajectory/json';
import type { EngineAnswer } from '../calls/answer.js';
import { EventsReader } from '../calls/events-reader.js';
import { asNumber, asObject, asText } from '../json/json-fields.js';
import type { RecordedCall } from '../calls/protocol.js';

/** A block that grows. */
interface DraftBlock {
  readonly block: JsonObject;
  text: string;
  thinking: string;
  /** Arguments of a tool as the model writes them: JSON, in pieces. */
  json: string;
  isStopped: boolean;
}

/** Reads the events of a streamed message: `message_start`, each block's start, deltas and stop, `message_delta`, `message_stop`. */
export class MessagesReader extends EventsReader {
  private message: JsonObject = {};
  private error: JsonObject | null = null;
  private isStopped = false;
  private readonly blocks = new Map<number, DraftBlock>();

  constructor(private readonly record: (answer: EngineAnswer) => RecordedCall) {
    super();
  }

  finish(isComplete: boolean): RecordedCall {
    const content = [...this.blocks].sort(([a], [b]) => a - b).map(([, draft]) => readBlock(draft));
    const body = { ...this.message, content, ...(this.error && { error: this.error }) };
    const { hole } = this;
    const isCut = hole !== undefined || (this.error === null && !(isComplete && this.isStopped));
    return this.record({ status: 200, body, isCut, hole });
  }

  protected read(event: JsonObject): void {
    const index = asNumber(event.index) ?? 0;
    switch (asText(event.type) ?? '') {
      case 'message_start':
        this.message = asObject(event.message);
        break;
      case 'content_block_start':
        this.begin(index, event);
        break;
      case 'content_block_delta':
        this.addDelta(index, event);
        break;
      case 'content_block_stop':
        this.stop(index);
        break;
      case 'message_delta':
        this.message = {
          ...this.message,
          ...asObject(event.delta),
          usage: addedUsage(asObject(this.message.usage), asObject(event.usage)),
        };
        break;
      case 'message_stop':
        this.isStopped = true;
        this.missUnended();
        this.close();
        break;
      case 'error':
        this.error = asObject(event.error);
        this.close();
    }
  }

  private begin(index: number, { content_block: block }: JsonObject): void {
    if (!isJsonObject(block)) this.miss();
    else if (index > this.blocks.size) this.miss(neverCame('start', this.blocks.size));
    if (this.hole !== undefined) return;
    const empty = { text: '', thinking: '', json: '', isStopped: false };
    this.blocks.set(index, { block: asObject(block), ...empty });
  }

  private addDelta(index: number, { delta: told }: JsonObject): void {
    const draft = this.blocks.get(index);
    if (!isJsonObject(told)) this.miss();
    else if (draft === undefined) this.miss(neverCame('start', index));
    if (this.hole !== undefined || draft === undefined) return;
    const delta = asObject(told);
    draft.text += asText(delta.text) ?? '';
    draft.thinking += asText(delta.thinking) ?? '';
    draft.json += asText(delta.partial_json) ?? '';
  }

  private stop(index: number): void {
    const draft = this.blocks.get(index);
    if (draft === undefined) this.miss(neverCame('start', index));
    else draft.isStopped = true;
  }

  /** Notes what a message that says that it has ended lacks. */
  private missUnended(): void {
    const open = [...this.blocks].find(([, { isStopped }]) => !isStopped);
    if (open !== undefined) this.miss(neverCame('end', open[0]));
    else if (asText(this.message.stop_reason) === null)
      this.miss('the reason why the answer ends never came');
  }
}

function neverCame(what: 'start' | 'end', index: number): string {
  return `the ${what} of block ${index} of the answer never came`;
}

function readBlock({ block, text, thinking, json }: DraftBlock): JsonObject {
  const joined = (name: string, added: string): JsonObject =>
    added === '' ? {} : { [name]: `${asText(block[name]) ?? ''}${added}` };
  // As text, exactly as the model wrote them.
  const input: JsonObject = json === '' ? {} : { input: json };
  return { ...block, ...joined('text', text), ...joined('thinking', thinking), ...input };
}

/** Counts of `message_delta` are totals; those that it leaves out, or gives as null, stay. */
function addedUsage(before: JsonObject, told: JsonObject): JsonObject {
  const given = Object.entries(told).filter((entry): entry is [string, JsonValue] => entry[1] != null);
  return { ...before, ...Object.fromEntries(given) };
}
