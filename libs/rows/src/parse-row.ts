import { isUtf8 } from 'node:buffer';
import type { RowRead } from './row.js';

/** Texts are matched first, so that a NaN inside one stays. */
const TEXT_OR_NOT_A_NUMBER = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

/** Parses one row. Python's `NaN` and `Infinity`, which are no JSON, become null: missing. */
export function parseRow(bytes: Buffer, number: number): RowRead {
  if (!isUtf8(bytes)) return { number, code: 'NOT_JSON', detail: 'not valid UTF-8' };
  const text = bytes.toString('utf8');
  try {
    return { number, value: JSON.parse(text) };
  } catch (error) {
    if (/NaN|Infinity/.test(text)) {
      const repaired = parseOrNone(
        text.replace(TEXT_OR_NOT_A_NUMBER, (part) => (part.startsWith('"') ? part : 'null')),
      );
      if (repaired !== undefined) return { number, value: repaired };
    }
    return { number, code: 'NOT_JSON', detail: shortReason(error) };
  }
}

function parseOrNone(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** V8 quotes the row in its message; a row may be megabytes. */
function shortReason(error: unknown): string {
  const message = error instanceof Error ? error.message : 'not valid JSON';
  return message.length > 120 ? `${message.slice(0, 117)}...` : message;
}
