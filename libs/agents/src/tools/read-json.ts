import { jsonrepair } from 'jsonrepair';

/** Longer texts are no tool call; parsing would hold the process. */
const MAX_JSON_LENGTH = 1_000_000;
/** Repairing takes far longer than parsing. */
const MAX_REPAIRED_LENGTH = 50_000;

export type ReadJson = { readonly value: unknown } | { readonly problem: string };

/** Reads a text that must be JSON and nothing else. */
export function readJson(text: string): ReadJson {
  if (text.length > MAX_JSON_LENGTH) {
    return { problem: `The JSON has ${text.length} characters; at most ${MAX_JSON_LENGTH} are read.` };
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: `The JSON is broken: ${(error as Error).message.slice(0, 200)}.` };
  }
}

/** Reads JSON with common mistakes of models: single quotes, comments, missing commas, line feeds in texts, a missing end. */
export function repairJson(text: string): ReadJson {
  const read = readJson(text);
  if ('value' in read || text.length > MAX_REPAIRED_LENGTH) return read;
  try {
    return { value: JSON.parse(jsonrepair(text)) as unknown };
  } catch {
    return read;
  }
}

/** The part of a text that is JSON, and the words before it: a text that starts with `[`, else from the first `{` to the last `}`. */
export function jsonPart(text: string): { readonly before: string; readonly json: string } | null {
  const isList = text.trimStart().startsWith('[');
  const start = text.indexOf(isList ? '[' : '{');
  if (start === -1) return null;
  const end = text.lastIndexOf(isList ? ']' : '}');
  return { before: text.slice(0, start), json: text.slice(start, end < start ? text.length : end + 1) };
}
