import type { RecordingError, RecordingErrorCode } from '@retrace/recording';
import { ProblemError, type ProblemCode } from './problem.js';
import { shorten } from './violations.js';

/** Codes that the API has another name for; the others are the same. */
const CODES = {
  INVALID_RECORDS: 'INVALID_REQUEST',
  MALFORMED_RECORDS: 'MALFORMED_BODY',
  TOO_MANY_RECORDS: 'BODY_TOO_LARGE',
  RUN_UNKNOWN: 'NOT_FOUND',
  NOTEBOOK_UNKNOWN: 'NOT_FOUND',
  ALARM_UNKNOWN: 'NOT_FOUND',
  SILENCE_UNKNOWN: 'NOT_FOUND',
  STORE_BEHIND: 'STORE_UNAVAILABLE',
  // Found at the start, before any request.
  REDACTION_RULES_INVALID: 'INTERNAL',
} as const satisfies Partial<Record<RecordingErrorCode, ProblemCode>>;

/** Turns the refusal of records into the problem that is answered. */
export function recordingProblem({ code, message, faults }: RecordingError): ProblemError {
  const known: ProblemCode =
    code in CODES
      ? CODES[code as keyof typeof CODES]
      : (code as Exclude<RecordingErrorCode, keyof typeof CODES>);
  const violations = faults.map(({ index, field, value, rule }) => ({
    ...(index !== null && { index }),
    ...{ field, value: shorten(value), rule },
  }));
  return new ProblemError(known, message, violations);
}
