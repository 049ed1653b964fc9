export type ConfigErrorCode =
  | 'RECIPE_UNKNOWN'
  | 'RECIPE_INVALID'
  | 'ENVIRONMENT_VARIABLE_INVALID'
  | 'DATA_DIRECTORY_UNUSABLE'
  | 'DATA_DIRECTORY_IN_USE';

/** A setting that can't be used. The message names the field, the value and the rule. */
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
