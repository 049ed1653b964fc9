import { isUtf8 } from 'node:buffer';
import type { RowRead } from './row.js';
import { parseJson } from './written-json.js';

/** Byte-order mark of UTF-8, which editors and spreadsheets put before a text. */
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Texts are matched first, so that a NaN inside one stays. */
const TEXT_OR_NOT_A_NUMBER = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

/** Removes the byte-order mark of UTF-8 from the start of a text, if there is one. */
export function withoutMark(bytes: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return bytes.subarray(0, length).equals(BYTE_ORDER_MARK) ? bytes.subarray(length) : bytes;
}

/** Parses one row. Python's `NaN` and `Infinity`, which are no JSON, become null: missing; an integer beyond 2^53 is a text. */
export function parseRow(bytes: Buffer, number: number): RowRead {
  if (!isUtf8(bytes)) return { number, code: 'NOT_JSON', detail: 'not valid UTF-8' };
  const text = bytes.toString('utf8');
  try {
    return { number, value: parseJson(text) };
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
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** V8 quotes the row in its message; a row may be megabytes. */
function shortReason(error: unknown): string {
  const message = error instanceof Error ? error.message : 'not valid JSON';
  return message.length > 120 ? `${message.slice(0, 117)}...` : message;
}
