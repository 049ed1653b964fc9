import type { JsonObject, JsonValue } from '@retrace/client';
import { isJsonObject } from '@retrace/trajectory/json';
import type { EngineAnswer } from '../calls/answer.js';
import { EventsReader } from '../calls/events-reader.js';
import { asNumber, asObject, asText } from '../json/json-fields.js';
import type { RecordedCall } from '../calls/protocol.js';

/** The field of an item that each kind of delta extends, and the type of its part where the field is a list of parts. */
const DELTAS: Readonly<Record<string, readonly [field: string, partType: string | null]>> = {
  'response.output_text.delta': ['content', 'output_text'],
  'response.refusal.delta': ['content', 'refusal'],
  'response.reasoning_text.delta': ['content', 'reasoning_text'],
  'response.reasoning_summary_text.delta': ['summary', 'summary_text'],
  'response.function_call_arguments.delta': ['arguments', null],
  'response.mcp_call_arguments.delta': ['arguments', null],
  'response.custom_tool_call_input.delta': ['input', null],
};

/** An item that grows: the item as it was added, and the texts that its deltas brought, by field and part. */
interface DraftItem {
  readonly item: JsonObject;
  readonly parts: Map<string, { readonly field: string; readonly type: string | null; text: string }>;
}

/**
 * Reads the events of a streamed response. The last event holds the whole response, so that it has no hole whatever was lost before; a stream that breaks
 * before it is put together from the items and deltas up to the first hole. Its events are numbered.
 */
export class ResponsesReader extends EventsReader {
  private response: JsonObject = {};
  private isFinal = false;
  private error: JsonObject | null = null;
  private readonly drafts = new Map<number, DraftItem>();
  private lastNumber: number | null = null;

  constructor(private readonly record: (answer: EngineAnswer) => RecordedCall) {
    super();
  }

  finish(isComplete: boolean): RecordedCall {
    const told = this.response.output;
    const isTold = Array.isArray(told) && told.length > 0;
    const output = isTold ? told : this.items();
    const hole = isTold && this.isFinal ? undefined : this.hole;
    const body = { ...this.response, output, ...(this.error && { error: this.error }) };
    const isCut = hole !== undefined || (this.error === null && !(isComplete && this.isFinal));
    return this.record({ status: 200, body, isCut, hole });
  }

  protected read(event: JsonObject): void {
    this.count(event);
    const type = asText(event.type) ?? '';
    const index = asNumber(event.output_index) ?? 0;
    if (type === 'error') {
      this.error = readError(event);
      this.close();
    } else if (type.startsWith('response.') && event.response !== undefined) {
      this.response = asObject(event.response);
      this.isFinal = ['response.completed', 'response.incomplete', 'response.failed'].includes(type);
      if (this.isFinal) this.close();
    } else if (this.hole !== undefined) return;
    else if (type === 'response.output_item.added' || type === 'response.output_item.done') {
      if (!isJsonObject(event.item)) this.miss();
      else this.drafts.set(index, { item: event.item, parts: new Map() });
    } else if (type in DELTAS) this.addDelta(event, index, DELTAS[type]);
  }

  /** Some servers give every event the same number. */
  private count({ sequence_number }: JsonObject): void {
    const number = asNumber(sequence_number);
    if (number === null) return;
    if (this.lastNumber !== null && number > this.lastNumber + 1)
      this.miss(`event ${this.lastNumber + 1} of the answer never came`);
    this.lastNumber = number;
  }

  private addDelta(event: JsonObject, index: number, [field, type]: readonly [string, string | null]): void {
    const delta = asText(event.delta);
    if (delta === null) {
      this.miss();
      return;
    }
    const draft = this.drafts.get(index) ?? {
      item: { type: 'message', role: 'assistant' },
      parts: new Map(),
    };
    this.drafts.set(index, draft);
    const key = `${field} ${asNumber(event.content_index) ?? asNumber(event.summary_index) ?? 0}`;
    const part = draft.parts.get(key) ?? { field, type, text: '' };
    part.text += delta;
    draft.parts.set(key, part);
  }

  /** The items so far, in order; the last one may be a part of an item. */
  private items(): readonly JsonObject[] {
    return [...this.drafts].sort(([a], [b]) => a - b).map(([, draft]) => toItem(draft));
  }
}

function toItem({ item, parts }: DraftItem): JsonObject {
  const fields: Record<string, JsonValue> = {};
  for (const { field, type, text } of parts.values()) {
    const before = fields[field];
    if (type === null) fields[field] = text;
    else
      fields[field] = [
        ...(Array.isArray(before) ? (before as readonly JsonValue[]) : []),
        toPart(type, text),
      ];
  }
  return { ...item, ...fields };
}

function toPart(type: string, text: string): JsonObject {
  return type === 'refusal' ? { type, refusal: text } : { type, text };
}

/** OpenAI writes the error's fields beside the type of the event; some servers nest them. */
function readError(event: JsonObject): JsonObject {
  const nested = asObject(event.error);
  return Object.keys(nested).length > 0 ? nested : { code: event.code, message: event.message };
}
