import { parseJson } from '@retrace/rows';
import type { Json } from '@retrace/trajectory';

/**
 * The arguments of a tool call as an object, which `writeJson` writes with the numbers and the order of the model's own text; null where the
 * text is no JSON object.
 */
export function argumentsObject(text: string): Readonly<Record<string, Json>> | null {
  try {
    const value = parseJson(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return value as Readonly<Record<string, Json>>;
  } catch {
    return null;
  }
}
