import { isUtf8 } from 'node:buffer';
import { RecordingError } from '../recording-error.js';
import { arrowRecords } from './arrow-records.js';

/** Media types in which records may come. */
export const RECORD_MEDIA_TYPES = [
  'application/json',
  'application/x-ndjson',
  'application/vnd.apache.arrow.stream',
] as const;

export type RecordMediaType = (typeof RECORD_MEDIA_TYPES)[number];

const NEWLINE = 0x0a;

/**
 * Takes the records out of a body, unchecked: JSON with one record or a list of them, NDJSON with one a line, or rows of an Arrow stream.
 * Stops after one record more than `maxRecords`.
 *
 * @throws RecordingError `MALFORMED_RECORDS`
 */
export function parseRecords(body: Buffer, mediaType: RecordMediaType, maxRecords: number): unknown[] {
  if (mediaType === 'application/vnd.apache.arrow.stream') return arrowRecords(body, maxRecords + 1);
  if (!isUtf8(body)) throw new RecordingError('MALFORMED_RECORDS', 'The body is not UTF-8 text');
  if (mediaType === 'application/x-ndjson') return parseLines(body, maxRecords + 1);
  const value = parseJson(body.toString('utf8'), 'The body');
  return Array.isArray(value) ? (value as unknown[]) : [value];
}

/** Parses line by line, so that the text of the whole body is never held. Empty lines are skipped. */
function parseLines(body: Buffer, maxRecords: number): unknown[] {
  const records: unknown[] = [];
  let lineNumber = 0;
  for (let from = 0; from < body.length && records.length < maxRecords;) {
    const newline = body.indexOf(NEWLINE, from);
    const end = newline < 0 ? body.length : newline;
    const line = body.toString('utf8', from, end).trim();
    lineNumber += 1;
    if (line !== '') records.push(parseJson(line, `Line ${lineNumber}`));
    from = end + 1;
  }
  return records;
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new RecordingError('MALFORMED_RECORDS', `${what} is no JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
