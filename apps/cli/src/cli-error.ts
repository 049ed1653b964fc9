export type CliErrorCode =
  | 'ALARM_UNKNOWN'
  | 'BACKEND_UNAVAILABLE'
  | 'BACKEND_UNKNOWN'
  | 'CHECK_FAILED'
  | 'DATA_DIRECTORY_IN_USE'
  | 'DATA_DIRECTORY_UNUSABLE'
  | 'DISK_FULL'
  | 'ENGINE_FAILED'
  | 'ENGINE_UNAVAILABLE'
  | 'EPISODE_UNKNOWN'
  | 'ESTIMATOR_UNKNOWN'
  | 'EVALUATION_REFUSED'
  | 'FILE_NOT_FOUND'
  | 'FILE_UNREADABLE'
  | 'FORMAT_UNKNOWN'
  | 'IMPORT_DIFFERS'
  | 'IMPORT_DIVERGED'
  | 'KEY_AMBIGUOUS'
  | 'KEY_UNKNOWN'
  | 'LOGPROBS_DIFFER'
  | 'LOG_UNKNOWN'
  | 'LOG_WHOLE'
  | 'NOTHING_IMPORTED'
  | 'NOTHING_LEARNED'
  | 'NOTHING_TO_CHECK'
  | 'NOT_A_FILE'
  | 'OPTION_INVALID'
  | 'PLAY_UNKNOWN'
  | 'POLICY_INCOMPATIBLE'
  | 'POLICY_REMOVED'
  | 'POLICY_UNKNOWN'
  | 'PORT_TAKEN'
  | 'QUERY_FAILED'
  | 'REPLAY_DIFFERS'
  | 'ROLE_FAILED'
  | 'RUN_ACTIVE'
  | 'RUN_FAILED'
  | 'RUN_UNKNOWN'
  | 'SERVER_INCOMPATIBLE'
  | 'SERVER_UNAVAILABLE'
  | 'SERVICES_IN_USE'
  | 'SERVICES_MISSING'
  | 'STORE_FAULTY'
  | 'STORE_UNAVAILABLE';

/** An error that ends a command. The message is one sentence for the user: what is wrong and what to do. */
export class CliError extends Error {
  readonly retriable: boolean;
  constructor(
    readonly code: CliErrorCode,
    message: string,
    options: ErrorOptions & { readonly retriable?: boolean } = {},
  ) {
    super(message, options);
    this.name = 'CliError';
    this.retriable = options.retriable ?? false;
  }
}
