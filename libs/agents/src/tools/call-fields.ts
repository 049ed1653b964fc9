import { isJsonObject, parsedJson } from '@retrace/trajectory/json';

/** A call as an agent wrote it, before its tool's schema is looked at. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Reads `{ [nameKey]: text, arguments: object }` without other keys than `thought`; null otherwise. */
export function exactCall(value: unknown, nameKey: string): WrittenCall | null {
  if (!isJsonObject(value)) return null;
  const { [nameKey]: name, arguments: values, thought: _, ...rest } = value;
  const isCall = typeof name === 'string' && isJsonObject(values) && Object.keys(rest).length === 0;
  return isCall ? { name, arguments: values } : null;
}

/**
 * Reads a call under any of its usual names: `name`, `function_name` or `tool`, `arguments`, `parameters` or `args`, as an object
 * or as JSON in a text, also inside `function` as OpenAI's API has it; null otherwise.
 */
export function looseCall(value: unknown): WrittenCall | null {
  if (!isJsonObject(value)) return null;
  if (isJsonObject(value.function)) return looseCall(value.function);
  const name = value.name ?? value.function_name ?? value.tool;
  const given = value.arguments ?? value.parameters ?? value.args ?? {};
  const values = typeof given === 'string' ? parsedJson(given) : given;
  return typeof name === 'string' && isJsonObject(values) ? { name: name.trim(), arguments: values } : null;
}

/** The calls of a value: itself, a list, or a message with `tool_calls`. */
export function callValues(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) && Array.isArray(value.tool_calls) ? value.tool_calls : [value];
}
