import type { JsonObject, JsonValue } from '@retrace/client';
import { isJsonObject } from '@retrace/trajectory/json';

type Json = JsonValue | undefined;

/** Objects in a list; [] for everything else. Bodies come from programs that may send anything, and are passed on as they are. */
export function asObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : [];
}

/** Whether a value is a list of objects, or is not there at all: the readers of lists leave out everything else. */
export function hasOnlyObjects(value: Json): boolean {
  return value == null || (Array.isArray(value) && (value as readonly JsonValue[]).every(isJsonObject));
}

/** Objects in a list up to the first element that is something else: what comes after a hole is no part of an answer. */
export function leadingObjects(value: Json): readonly JsonObject[] {
  const all = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  const hole = all.findIndex((each) => !isJsonObject(each));
  return (hole < 0 ? all : all.slice(0, hole)) as readonly JsonObject[];
}

/** Objects in a list; null where there is no list. */
export function listedObjects(value: Json): readonly JsonObject[] | null {
  return Array.isArray(value) ? asObjects(value) : null;
}

/** An object; {} for everything else. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function asText(value: Json): string | null {
  return typeof value === 'string' ? value : null;
}

export function asNumber(value: Json): number | null {
  return typeof value === 'number' ? value : null;
}

/** A whole number, at least 0; null for everything else. */
export function asCount(value: Json): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;
}
