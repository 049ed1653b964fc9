export type AgentFormatErrorCode =
  /** No format has that name. */
  | 'UNKNOWN_FORMAT'
  /** An option of a format that breaks its rule. */
  | 'INVALID_OPTION'
  /** A text that is no template, or one with an unknown placeholder. */
  | 'INVALID_TEMPLATE'
  /** A turn that the format cannot express. */
  | 'NOT_WRITABLE';

/** Base error of this library. No retry helps. */
export class AgentFormatError extends Error {
  readonly retriable = false;

  constructor(
    readonly code: AgentFormatErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'AgentFormatError';
  }
}
