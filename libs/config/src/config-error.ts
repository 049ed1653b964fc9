export type ConfigErrorCode =
  | 'RECIPE_UNKNOWN'
  | 'RECIPE_INVALID'
  /** A what-if asks for a change that updates which were made already can't have. */
  | 'WHAT_IF_INVALID';

/** A recipe that can't be used. The message names the field, the value and the rule. */
export class ConfigError extends Error {
  readonly retriable = false;
  constructor(
    readonly code: ConfigErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ConfigError';
  }
}
