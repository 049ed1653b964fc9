/** A JSON value, for the open-ended fields (task, info, recipe). */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** The object that a text of JSON holds, such as a file, a line of one or a message of another program; null for any other text. */
export function parsedObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether a value of parsed JSON, or one that is to be written as JSON, is an object, and no list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
