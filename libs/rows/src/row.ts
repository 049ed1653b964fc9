/** Why a row could not be read. */
export type BrokenRowCode = 'NOT_JSON' | 'CUT' | 'TOO_LARGE' | 'TOO_DEEP' | 'UNREADABLE';

/** A row that could be read. */
export interface Row {
  /** From 1, in the file: the line, or the place in the list. */
  readonly number: number;
  readonly value: unknown;
}

/** A row that could not be read. */
export interface BrokenRow {
  readonly number: number;
  readonly code: BrokenRowCode;
  readonly detail: string;
}

export type RowRead = Row | BrokenRow;

export function isBroken(read: RowRead): read is BrokenRow {
  return 'code' in read;
}

/** Largest row that is read. A larger one is skipped without ever being in memory as a whole. */
export const MAX_ROW_BYTES = 32 * 1024 * 1024;

/** Deepest nesting of a row. */
export const MAX_ROW_DEPTH = 200;
