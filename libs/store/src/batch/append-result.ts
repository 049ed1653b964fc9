import type { DroppedRecord, UndecidedRecord } from '../admission/admission-result.js';

/**
 * Fate of a record that was given to a batch: it has a row as an event, a row as a dead letter, or none because its run is
 * deleted; or it is not taken yet (`retry`).
 */
export type AppendResult =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'deadLetter' }
  | DroppedRecord
  | UndecidedRecord;

/** Shared, because these results come with every record and carry nothing. */
export const ACCEPTED: AppendResult = Object.freeze({ kind: 'accepted' });
export const DEAD_LETTER: AppendResult = Object.freeze({ kind: 'deadLetter' });
