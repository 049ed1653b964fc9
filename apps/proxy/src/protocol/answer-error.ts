import type { JsonObject } from '@retrace/client';
import { isObject, textOf } from './json-fields.js';
import type { RecordedCall } from './protocol.js';

/**
 * The error of an answer whose HTTP status says that it failed; null for any other status. OpenAI and Anthropic write
 * `{ error: { message } }`, others `{ message }`, `{ detail }` or `{ error }` with a text.
 */
export function errorOfAnswer(status: number, body: JsonObject): RecordedCall['error'] {
  if (status < 400) return null;
  const { error } = body;
  const nested = isObject(error) ? textOf(error.message) : textOf(error);
  const message = nested ?? textOf(body.message) ?? textOf(body.detail) ?? JSON.stringify(body);
  return { status, message };
}
