import type { BrokenRowCode } from '@retrace/rows';

/** Why a row, a part of a row or a file was not taken. */
export type SkipCode =
  | BrokenRowCode
  | 'WRONG_TYPE'
  | 'FIELD_MISSING'
  | 'NO_AGENT_TURN'
  | 'COPIED_CONTEXT'
  | 'CALL_FAILED'
  | 'UNSUPPORTED'
  | 'UNKNOWN_FORMAT'
  | 'REFUSED';

/** Something that was left out, and where. */
export interface Skip {
  readonly code: SkipCode;
  readonly detail: string;
  /** Number of the row in its file, from 1; null = the whole file. */
  readonly row: number | null;
}

/** A fault in a row; thrown by the checks of `fields.ts` and caught where the row's mapping began. */
export class RowFault extends Error {
  constructor(
    readonly code: SkipCode,
    message: string,
  ) {
    super(message);
  }
}
