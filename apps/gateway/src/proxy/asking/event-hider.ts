import { parsedObject, isJsonObject, objectOfEvent, asObjects, type SseEvent } from '@retrace/chat';
import type { JsonObject } from '@retrace/client';
import { withoutAdded, type HiddenFields } from './token-fields.js';

/** An end of a choice, in a chunk of a stream. */
const CHOICE_END = /"finish_reason": ?"/;

/**
 * Hides from the events of one stream what only `added` had asked for.
 *
 * vLLM writes its fingerprint into the last chunk, which is another one where it is asked for the usage: the chunk that ends the last choice waits for that one,
 * and takes the fingerprint over.
 */
export class EventHider {
  private waiting: SseEvent | null = null;
  private readonly hidesUsage: boolean;
  /** Of hidden fields: an event without any of them passes as it came. */
  private readonly names: readonly string[];

  constructor(private readonly added: HiddenFields) {
    this.hidesUsage = added.hidden.includes('usage');
    this.names = added.hidden.map((name) => `"${name}"`);
  }

  /** @param event null at the end of the stream */
  hide(event: SseEvent | null): readonly SseEvent[] {
    const before = this.waiting === null ? [] : [this.waiting];
    this.waiting = null;
    if (event === null) return before;
    const { data } = event;
    const isEnd = this.hidesUsage && CHOICE_END.test(data);
    if (!isEnd && !this.names.some((name) => data.includes(name))) return [...before, event];
    const chunk = objectOfEvent(event);
    if (chunk === null) return [...before, event];
    if (this.hidesUsage && isJsonObject(chunk.usage) && asObjects(chunk.choices).length === 0)
      return before.map((last) => withFingerprint(last, chunk));
    const shown = { ...event, data: JSON.stringify(withoutAdded(chunk, this.added)) };
    if (!isEnd || chunk.system_fingerprint !== undefined) return [...before, shown];
    this.waiting = shown;
    return before;
  }
}

function withFingerprint(event: SseEvent, { system_fingerprint }: JsonObject): SseEvent {
  if (system_fingerprint === undefined) return event;
  return { ...event, data: JSON.stringify({ ...parsedObject(event.data), system_fingerprint }) };
}
