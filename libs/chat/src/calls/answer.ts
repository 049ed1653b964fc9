import type { JsonObject } from '@retrace/client';
import { isJsonObject } from '@retrace/trajectory/json';
import { asText } from '../json/json-fields.js';
import type { RecordedCall } from './protocol.js';

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
export function describeWholeness(
  answer: EngineAnswer,
  { unreadable, missing }: { readonly unreadable?: string; readonly missing?: string },
): Pick<RecordedCall, 'isCut' | 'hole'> {
  const field = unreadable === undefined ? undefined : `${unreadable} of the answer could not be read`;
  const place = answer.hole ?? field;
  const isCut = answer.isCut || place !== undefined;
  const hole = place ?? (isCut ? undefined : missing);
  return { isCut, ...(hole !== undefined && { hole }) };
}

/**
 * The error of an answer whose HTTP status says that it failed; null for any other status. OpenAI and Anthropic write
 * `{ error: { message } }`, others `{ message }`, `{ detail }` or `{ error }` with a text.
 */
export function errorOfAnswer(status: number, body: JsonObject): RecordedCall['error'] {
  if (status < 400) return null;
  const { error } = body;
  const nested = isJsonObject(error) ? asText(error.message) : asText(error);
  const message = nested ?? asText(body.message) ?? asText(body.detail) ?? JSON.stringify(body);
  return { status, message };
}

/** An error that came after the answer had begun; null where there is none. */
export function errorInStream(status: number, { error }: JsonObject): RecordedCall['error'] {
  return isJsonObject(error) ? { status, message: asText(error.message) ?? JSON.stringify(error) } : null;
}
