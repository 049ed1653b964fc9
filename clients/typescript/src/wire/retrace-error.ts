/** A rule that one field of a request breaks; `index` is the record's place in its batch. */
export interface FieldError {
  readonly index?: number;
  readonly field?: string;
  readonly value?: unknown;
  readonly rule?: string;
}

/**
 * - `UNREACHABLE`: no answer; records wait and are sent again.
 * - `BUSY`: the server asked to wait, or its log is unavailable; records wait.
 * - `UNAUTHORIZED`: the API key is missing, wrong or lacks a scope; records wait.
 * - `REFUSED`: the server refused a request, or a record, which is dropped.
 * - `POORER`: a record is stored without a part that the server does not take.
 * - `DROPPED`: a record found no room, or nothing of it can be stored.
 * - `SPOOL_FAILED`: the spool can't be read or written.
 * - `UNSUPPORTED`: this place lacks what the call needs.
 */
export type RetraceErrorCode =
  | 'UNREACHABLE'
  | 'BUSY'
  | 'UNAUTHORIZED'
  | 'REFUSED'
  | 'POORER'
  | 'DROPPED'
  | 'SPOOL_FAILED'
  | 'UNSUPPORTED';

interface RetraceErrorDetails {
  readonly cause?: unknown;
  readonly status?: number;
  readonly problem?: string;
  readonly errors?: readonly FieldError[];
  readonly retryAfterMs?: number | null;
}

/** Every error of this client. Its message never holds the API key. */
export class RetraceError extends Error {
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** The server's own code, for example `STEP_CONFLICT`; '' when it gave none. */
  readonly problem: string;
  readonly errors: readonly FieldError[];
  /** How long the server asked to wait; null when it did not say. */
  readonly retryAfterMs: number | null;

  constructor(
    readonly code: RetraceErrorCode,
    message: string,
    { cause, status, problem, errors, retryAfterMs }: RetraceErrorDetails = {},
  ) {
    super(message, { cause });
    this.name = 'RetraceError';
    this.status = status ?? null;
    this.problem = problem ?? '';
    this.errors = errors ?? [];
    this.retryAfterMs = retryAfterMs ?? null;
  }
}

/** Text of any error; the reason of a failed `fetch` is in its cause. */
export function describeReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
