export { isAsOf } from '../as-of/as-of-filters.js';
export {
  explainQuery,
  type PlanIndex,
  type PlannedTable,
  type PlanStep,
  type QueryPlan,
} from './query-plan.js';
export { type SqlToken, SqlTokenError, sqlTokens } from './sql-tokens.js';
export { UserSqlError, type UserSqlErrorCode } from './user-sql-error.js';
export { describeExceededLimit, USER_SQL_LIMITS } from './user-sql-limits.js';
export { checkUserSql, limitRows, type UserSqlPolicy } from './user-sql.js';
