import { TrajectoryError, type TrajectoryErrorOptions } from '@retrace/trajectory';

/** Reasons why records are not taken. The first group is the caller's fault, and no repetition helps. */
export type RecordingErrorCode =
  /** A record breaks a rule of its type. */
  | 'INVALID_RECORDS'
  /** The body is no JSON, no NDJSON, no Arrow stream, or is compressed in another way than it says. */
  | 'MALFORMED_RECORDS'
  | 'TOO_MANY_RECORDS'
  | 'RUN_UNKNOWN'
  /** A run with the same id and other content has been started. */
  | 'RUN_EXISTS'
  /** The run has ended for another reason. */
  | 'RUN_ENDED'
  /** Episodes of a run that is trained here are written by its collector; it takes rewards and annotations only. */
  | 'RUN_NOT_RECORDED'
  | 'EPISODE_UNKNOWN'
  | 'EPISODE_ENDED'
  /** The episode was deleted for ever: leave its records out, and send the others. */
  | 'EPISODE_DELETED'
  | 'STEP_OUT_OF_ORDER'
  | 'STEP_UNKNOWN'
  /** The place of the record is taken by another content. */
  | 'EPISODE_CONFLICT'
  | 'STEP_CONFLICT'
  | 'END_CONFLICT'
  | 'REWARD_CONFLICT'
  | 'ANNOTATION_CONFLICT'
  /** An update starts from a policy that the run has not published. */
  | 'POLICY_UNKNOWN'
  /** Another update or policy has the place of this one, or its id. */
  | 'UPDATE_CONFLICT'
  | 'NOTEBOOK_UNKNOWN'
  /** No process has raised the alarm. */
  | 'ALARM_UNKNOWN'
  /** No silence of the rule holds in exactly this run, or in all. */
  | 'SILENCE_UNKNOWN'
  /** The notebook has a newer revision than the one that was changed. */
  | 'NOTEBOOK_CONFLICT'
  /** Another process records updates of the run; sending the request again is safe, of an update with its id. */
  | 'RUN_CLAIMED'
  /** The log did not acknowledge in time; whether the records landed is unknown, and sending them again is safe. */
  | 'LOG_UNAVAILABLE'
  /** The file of redaction rules is no such file. */
  | 'REDACTION_RULES_INVALID'
  /** The store, which is asked about episodes that this process does not know, is behind or does not answer. */
  | 'STORE_BEHIND';

/** A broken rule of one record of a batch. */
export interface RecordFault {
  /** Place of the record in its batch, from 0; null for a request that has no records. */
  readonly index: number | null;
  /** Path of the field in the record: `tokens.mask[3]`. */
  readonly field: string;
  readonly value: unknown;
  /** Starts with "must". */
  readonly rule: string;
}

interface RecordingErrorOptions extends TrajectoryErrorOptions {
  readonly faults?: readonly RecordFault[];
}

/** Records were refused; nothing of their batch was written, except after `LOG_UNAVAILABLE`, when that is unknown. */
export class RecordingError extends TrajectoryError<RecordingErrorCode> {
  readonly faults: readonly RecordFault[];

  constructor(
    code: RecordingErrorCode,
    message: string,
    { faults = [], ...options }: RecordingErrorOptions = {},
  ) {
    super(code, message, options);
    this.faults = faults;
  }
}
