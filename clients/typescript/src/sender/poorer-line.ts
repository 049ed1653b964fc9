import { RECORD_LIMITS } from '../storable/fit-size.js';
import { poorerRecord, poorest, storableRecord } from '../storable/storable-record.js';
import type { RetraceError } from '../wire/retrace-error.js';
import type { RunRecord } from '../wire/records.js';
import type { OutboxLine } from '../storable/outbox-entry.js';

/** Codes of refusals for what is in a record, not for its place. */
const OF_CONTENT: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'MALFORMED_BODY', 'BODY_TOO_LARGE']);
const TOO_LARGE = 413;
const NOT_FOUND = 404;
/** Below this size nothing is cut further. */
const SMALL_BYTES = 4096;

/**
 * The same line poorer, after the server has refused it for its content: without the field at fault, smaller, or, when neither is
 * possible, with nothing but its place in the episode. An end whose steps are not all stored becomes one that says so.
 *
 * @returns null when no poorer line helps
 */
export function poorerLine(line: OutboxLine, error: RetraceError): OutboxLine | null {
  const record = parse(line.json);
  if (record === null) return null;
  const { problem, status, errors, message } = error;
  const [fault] = errors;
  const reason = `the server refused ${fault?.field || 'it'}: ${fault?.rule ?? message}`;
  if (problem === 'STEP_OUT_OF_ORDER' && record.type === 'end') {
    const detail = `steps are missing: ${fault?.rule ?? message}`;
    return changed(line, poorest(record, [detail]));
  }
  const isOfContent = OF_CONTENT.has(problem) || (problem === '' && status !== NOT_FOUND);
  if (!isOfContent) return null;
  const isTooLarge = status === TOO_LARGE || (problem === 'INVALID_REQUEST' && fault?.field === '');
  if (isTooLarge) {
    const bytes = Math.floor(line.json.length / 2);
    const limits = { jsonBytes: bytes, eventBytes: Math.min(bytes, RECORD_LIMITS.eventBytes) };
    const smaller =
      bytes > SMALL_BYTES ? storableRecord(record as unknown as RunRecord, limits).content : null;
    if (smaller !== null) return changed(line, smaller);
  }
  return changed(line, poorerRecord(record as unknown as RunRecord, { field: fault?.field ?? '', reason }));
}

function changed(line: OutboxLine, content: object | null): OutboxLine | null {
  return content && { ...line, json: JSON.stringify(content) };
}

function parse(json: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(json) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}
