export { amongEpisodes } from './among-episodes.js';
export { migrate, MIGRATIONS_DIRECTORY, type MigrateOptions, type MigrateResult } from './migrate.js';
export { readSchemaState, type SchemaState } from './schema-state.js';
export {
  createStoreClient,
  type ArrowInsert,
  type ResultTable,
  type StatementOptions,
  type StoreClient,
  type StoreClientOptions,
} from './store-client.js';
export type { StoreLayout } from './store-layout.js';
export { StoreError, type StoreErrorCode } from './store-error.js';
export {
  checkUserSql,
  limitRows,
  UserSqlError,
  type UserSqlErrorCode,
  type UserSqlPolicy,
} from './user-sql.js';
export { describeExceededLimit, USER_SQL_LIMITS } from './user-sql-limits.js';
export { rebuildStore, type RebuildOptions, type RebuildReport } from './rebuild/rebuild-store.js';
export { deleteRun, type DeleteReport, type DeleteRun } from './retention/delete-run.js';
export { readDeletedRuns } from './retention/deletion-watch.js';
export { findRunReferences, type RunReference } from './retention/run-references.js';
export { readRunHashes, type RunHash, type RunHashOptions } from './row-hash.js';
export { catchUp } from './sink/catch-up.js';
export { untilVisible } from './sink/until-visible.js';
export { Sink, type SinkRun, type SinkShare } from './sink/sink.js';
export type { SinkOptions } from './sink/sink-options.js';
export type { PartitionProgress, SinkProgress } from './sink/sink-progress.js';
export {
  TrajectoryReader,
  type AssignedReward,
  type LostEpisode,
  type TrajectoryReaderOptions,
} from './trajectory-reader.js';
export { verifyStore, type VerifyOptions, type VerifyReport } from './verify/verify-store.js';
export type { Fault, FaultCode } from './verify/fault-list.js';
export type { EpisodeTexts, StepTexts } from './episode-texts.js';
export {
  listDeadLetters,
  type DeadLetterEntry,
  type DeadLetterFilter,
  type DeadLetterPage,
} from './dead-letters/dead-letters.js';
export {
  retryDeadLetters,
  type RetryDeadLetters,
  type RetryReport,
} from './dead-letters/retry-dead-letters.js';
