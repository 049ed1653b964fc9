export type TinkerErrorCode =
  /** The server refused a call as it was asked: a field, a loss, a name that is taken. */
  | 'REFUSED'
  /** The server no longer has the model or its session, as after a restart. */
  | 'MODEL_LOST'
  /** The server has no such checkpoint. */
  | 'CHECKPOINT_UNKNOWN'
  /** The server took a call and failed in it. */
  | 'FAILED'
  /** No answer came; whether the server has applied the call is unknown. */
  | 'NO_ANSWER'
  /** An answer lacks what the API says it has. */
  | 'MALFORMED_ANSWER';

/** A server of the Tinker API did not do what it was asked for. */
export class TinkerError extends Error {
  override readonly name = 'TinkerError';

  constructor(
    readonly code: TinkerErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
