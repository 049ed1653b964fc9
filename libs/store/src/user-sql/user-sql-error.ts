import { TrajectoryError } from '@retrace/trajectory';

/** The text is no SQL that can be read, or it is more than one SELECT over what may be read. */
export type UserSqlErrorCode = 'USER_SQL_SYNTAX' | 'USER_SQL_NOT_ALLOWED';

/** What `checkUserSql` rejects with; the message is meant for whoever wrote the SQL. */
export class UserSqlError extends TrajectoryError<UserSqlErrorCode> {}

export function notAllowed(message: string): UserSqlError {
  return new UserSqlError('USER_SQL_NOT_ALLOWED', message);
}
