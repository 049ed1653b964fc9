import { TrajectoryError } from '@retrace/trajectory/error';

/** The SQL can not be parsed, or it is not one SELECT over readable tables. */
export type UserSqlErrorCode = 'USER_SQL_SYNTAX' | 'USER_SQL_NOT_ALLOWED';

/** Rejects user SQL; the message is written for the author of the SQL. */
export class UserSqlError extends TrajectoryError<UserSqlErrorCode> {}

export function notAllowed(message: string): UserSqlError {
  return new UserSqlError('USER_SQL_NOT_ALLOWED', message);
}

/** @param message completes "Syntax error: …" */
export function syntaxError(message: string, options?: ErrorOptions): UserSqlError {
  return new UserSqlError('USER_SQL_SYNTAX', `Syntax error: ${message}`, options);
}
