import type { AnyEvent, EventKind } from '../events/event.js';
import type { Json } from '../json/json.js';
import { textsOfMessages } from '../messages/message-text.js';

/** Fields of a step that its record lacks where they follow from its messages, so that a text is stored once; null stands for them. */
export const TEXT_FIELDS = ['observation', 'action'] as const;

type Fields = Readonly<Record<string, unknown>>;

/** The payload of an event as its record has it. */
export function withoutTexts({ kind, payload }: AnyEvent): Fields {
  if (kind !== 'StepRecorded' || payload.messages === null) return payload as unknown as Fields;
  const texts = textsOfMessages(payload.messages);
  const left = TEXT_FIELDS.filter((name) => payload[name] !== '' && payload[name] === texts?.[name]);
  return { ...payload, ...Object.fromEntries(left.map((name) => [name, null])) };
}

/** The payload of a record as the event has it. A text that does not follow from the messages stays null, which validation refuses. */
export function withTexts(kind: EventKind, payload: Fields): Fields {
  if (kind !== 'StepRecorded' || TEXT_FIELDS.every((name) => payload[name] !== null)) return payload;
  const texts = textsOfMessages((payload.messages ?? null) as Json);
  const given = TEXT_FIELDS.filter((name) => payload[name] === null);
  return { ...payload, ...Object.fromEntries(given.map((name) => [name, texts?.[name] ?? null])) };
}
