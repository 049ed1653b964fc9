/** A JSON value, for the open-ended fields (task, info, recipe). */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** The value of a text of JSON, such as a file, a line of one or a message of another program; undefined for any other text. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The object that a text of JSON holds; null for any other text. */
export function parsedObject(text: string): JsonObject | null {
  const value = parsedJson(text);
  return isJsonObject(value) ? value : null;
}

/** Whether a value of parsed JSON, or one that is to be written as JSON, is an object, and no list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
