export type EnvironmentSourceErrorCode =
  /** A file cannot be run, or does not export an environment. */
  | 'MODULE_INVALID'
  /** An environment of AgentGym that this library does not know. */
  | 'FAMILY_UNKNOWN'
  /** Task files that cannot be read, with a row that breaks a rule, or with other rows than before. */
  | 'TASKS_INVALID'
  /** The servers were stopped. */
  | 'SERVER_FAILED'
  /** A server does not answer, or its connection was lost. */
  | 'SERVER_UNREACHABLE'
  /** A server refused a request; the message has its words. */
  | 'SERVER_REFUSED'
  /** A server takes no more episodes. */
  | 'SERVER_FULL'
  /** An answer that breaks the protocol. */
  | 'PROTOCOL_VIOLATION';

const RETRIABLE: readonly EnvironmentSourceErrorCode[] = ['SERVER_UNREACHABLE', 'SERVER_FULL'];

/** Base error of this library. */
export class EnvironmentSourceError extends Error {
  constructor(
    readonly code: EnvironmentSourceErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = 'EnvironmentSourceError';
  }

  get retriable(): boolean {
    return RETRIABLE.includes(this.code);
  }
}
