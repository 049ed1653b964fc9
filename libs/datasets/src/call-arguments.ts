import { parseJson } from '@retrace/rows';
import { isJsonObject, type Json } from '@retrace/trajectory';

/**
 * The arguments of a tool call as an object, which `writeJson` writes with the numbers and the order of the model's own text; null where the
 * text is no JSON object.
 */
export function argumentsObject(text: string): Readonly<Record<string, Json>> | null {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
