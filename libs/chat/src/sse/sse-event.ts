import type { JsonObject } from '@retrace/client';
import { parsedObject } from '@retrace/trajectory/json';

/** One server-sent event; the lines of its data are joined by newlines. */
export interface SseEvent {
  readonly event: string | null;
  readonly data: string;
}

const objects = new WeakMap<SseEvent, JsonObject | null>();

/** The data of an event as an object, parsed once for those who hide a part of it and those who read it; null for data of another kind. */
export function objectOfEvent(event: SseEvent): JsonObject | null {
  const known = objects.get(event);
  if (known !== undefined) return known;
  const object = parsedObject(event.data);
  objects.set(event, object);
  return object;
}

/** Data of the event that ends a stream of OpenAI's API. */
export const STREAM_END = '[DONE]';

/** Writes an event without a name, whose data is one line. */
export function eventText(data: string): string {
  return `data: ${data}\n\n`;
}
