import type { AnyEvent } from '@retrace/trajectory';
import type { DeadLetterCode } from '@retrace/trajectory/codec';
import type { AdmissionCode } from './admission-fault.js';

/** The record is an event that counts. */
export interface AcceptedRecord {
  readonly kind: 'accepted';
  readonly event: AnyEvent;
  /** Its `contentChecksum`. */
  readonly checksum: string;
}

/** The record is no valid event, or does not count beside the records before it. Its row keeps its bytes. */
export interface RefusedRecord {
  readonly kind: 'deadLetter';
  readonly code: DeadLetterCode | AdmissionCode;
  /** One sentence for people: field, value and rule. */
  readonly reason: string;
}

/** The record belongs to a deleted run and gets no row. */
export interface DroppedRecord {
  readonly kind: 'dropped';
}

/** Nothing is decided and nothing has changed: `Admission.learn` must read about the record first. */
export interface UndecidedRecord {
  readonly kind: 'retry';
}

export type DecidedRecord = AcceptedRecord | RefusedRecord | DroppedRecord;
/** Fate of a record of the log. */
export type AdmissionResult = DecidedRecord | UndecidedRecord;

/** Shared, because these results come with every record and carry nothing. */
export const DROPPED: DroppedRecord = Object.freeze({ kind: 'dropped' });
export const RETRY: UndecidedRecord = Object.freeze({ kind: 'retry' });
