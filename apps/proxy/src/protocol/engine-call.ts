import type { JsonObject, TokenUsage } from '@retrace/client';
import { eventObject, isObject, numberOf, objectOf, objectsOf } from './json-fields.js';
import { withoutAdded } from './engine-tokens.js';
import { objectOfEvent } from './event-object.js';
import type { PreparedCall, RecordedCall, SseEvent } from './protocol.js';

/** Names of the fields that `withoutAdded` removes, by what was asked for: an event without any of them passes as it came. */
const ADDED_NAMES: Readonly<Record<string, readonly string[]>> = {
  return_token_ids: ['"token_ids"', '"prompt_token_ids"', '"response_token_ids"'],
  logprobs: ['"logprobs"'],
  stream_options: ['"usage"'],
};

/** The part of a call that asks for more than the client did, and hides it from the client. */
export function addingCall(
  body: JsonObject,
  added: JsonObject,
): Pick<PreparedCall, 'body' | 'isStream' | 'hides' | 'hide' | 'hideEvent'> {
  const hides = Object.keys(added).length > 0;
  const hider = new EventHider(added);
  return {
    body: hides ? { ...body, ...added } : body,
    isStream: body.stream === true,
    hides,
    hide: (answer) => (hides ? withoutAdded(answer, added) : answer),
    hideEvent: (event) => hider.hide(event),
  };
}

/** An end of a choice, in a chunk of a stream. */
const CHOICE_END = /"finish_reason": ?"/;

/**
 * Hides from the events of one stream what only `added` had asked for.
 *
 * vLLM writes its fingerprint into the last chunk, which is another one where it is asked for the usage: the chunk that ends the last choice waits for that one,
 * and takes the fingerprint over.
 */
class EventHider {
  private waiting: SseEvent | null = null;
  private readonly hidesUsage: boolean;
  private readonly names: readonly string[];

  constructor(private readonly added: JsonObject) {
    this.hidesUsage = 'stream_options' in added;
    this.names = Object.keys(added).flatMap((field) => ADDED_NAMES[field] ?? []);
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
    if (this.hidesUsage && isObject(chunk.usage) && objectsOf(chunk.choices).length === 0)
      return before.map((last) => withFingerprint(last, chunk));
    const shown = { ...event, data: JSON.stringify(withoutAdded(chunk, this.added)) };
    if (!isEnd || chunk.system_fingerprint !== undefined) return [...before, shown];
    this.waiting = shown;
    return before;
  }
}

function withFingerprint(event: SseEvent, { system_fingerprint }: JsonObject): SseEvent {
  if (system_fingerprint === undefined) return event;
  return { ...event, data: JSON.stringify({ ...eventObject(event.data), system_fingerprint }) };
}

/** Reads token counts of OpenAI's form; null where the answer has none. */
export function usageOf(value: JsonObject['usage']): TokenUsage | null {
  if (!isObject(value)) return null;
  return {
    inputTokens: numberOf(value.prompt_tokens),
    cachedInputTokens: numberOf(objectOf(value.prompt_tokens_details).cached_tokens),
    outputTokens: numberOf(value.completion_tokens),
    reasoningTokens: numberOf(objectOf(value.completion_tokens_details).reasoning_tokens),
  };
}

/** An answer as its server told it, complete or cut off. */
export interface EngineAnswer {
  readonly status: number;
  readonly body: JsonObject;
  readonly isCut: boolean;
  /** The first thing that is missing in a stream, where the answer was cut off. */
  readonly hole?: string;
}

/**
 * Says whether an answer is whole.
 *
 * @param unreadable a field that is not as the protocol has it: the answer ends there
 * @param missing tokens that the usage counts and the answer lacks, at unknown places; only for answers that are not cut off
 */
export function wholenessOf(
  answer: EngineAnswer,
  { unreadable, missing }: { readonly unreadable?: string; readonly missing?: string },
): Pick<RecordedCall, 'isCut' | 'hole'> {
  const field = unreadable === undefined ? undefined : `${unreadable} of the answer could not be read`;
  const place = answer.hole ?? field;
  const isCut = answer.isCut || place !== undefined;
  const hole = place ?? (isCut ? undefined : missing);
  return { isCut, ...(hole !== undefined && { hole }) };
}
