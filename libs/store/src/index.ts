export type { FlatNumbers } from './arrow/arrow-chunk.js';
export {
  ArrowColumns,
  assertCompleteArrowStream,
  type FlatLists,
  type NullableNumbers,
} from './arrow/arrow-columns.js';
export { ArrowError, type ArrowErrorCode } from './arrow/arrow-error.js';
export {
  type ArrowInsert,
  createStoreClient,
  type ResultTable,
  type StatementOptions,
  type StoreClient,
  type StoreClientOptions,
} from './client/store-client.js';
export { StoreError, type StoreErrorCode } from './client/store-error.js';
export {
  type DeadLetterEntry,
  type DeadLetterFilter,
  type DeadLetterPage,
  listDeadLetters,
} from './dead-letters/dead-letters.js';
export {
  retryDeadLetters,
  type RetryDeadLetters,
  type RetryReport,
} from './dead-letters/retry-dead-letters.js';
export { amongEpisodes } from './reader/among-episodes.js';
export type { EpisodeTexts, StepTexts } from './reader/episode-texts.js';
export {
  type AssignedReward,
  type LostEpisode,
  TrajectoryReader,
  type TrajectoryReaderOptions,
} from './reader/trajectory-reader.js';
export { type RebuildOptions, type RebuildReport, rebuildStore } from './rebuild/rebuild-store.js';
export { type DeleteReport, deleteRun, type DeleteRun } from './retention/delete-run.js';
export { readDeletedRuns } from './admission/deletion-watch.js';
export { findRunReferences, type RunReference } from './retention/run-references.js';
export type { StreamPartition } from './position/stream-partition.js';
export { EventRowReader } from './rows/event-row-reader.js';
export {
  DEAD_LETTER_KIND,
  type DeadLetterRow,
  type EncodedRows,
  eventRow,
  type EventRow,
  EventRowsEncoder,
  readEventRow,
  WATERMARK_EPISODE_ID,
  WATERMARK_KIND,
} from './rows/event-rows.js';
export {
  type CheckpointContent,
  type ExportReport,
  exportRun,
  type ExportRun,
} from './run-file/export-run.js';
export { checkRunFile, importRun, type ImportRun } from './run-file/import-run.js';
export { RunFileError, type RunFileErrorCode } from './run-file/run-file-error.js';
export type { RunFileEnd } from './run-file/run-file-format.js';
export { migrate, type MigrateOptions, type MigrateResult, MIGRATIONS_DIRECTORY } from './schema/migrate.js';
export { readSchemaState, type SchemaState } from './schema/schema-state.js';
export type { StoreLayout } from './schema/store-layout.js';
export { catchUp } from './catch-up/catch-up.js';
export type { SinkOptions } from './sink/sink-options.js';
export type { PartitionProgress, SinkProgress } from './sink/sink-progress.js';
export { Sink, type SinkRun, type SinkShare } from './sink/sink.js';
export { untilVisible } from './catch-up/until-visible.js';
export type { StoreFault, FaultCode } from './verify/fault-list.js';
export { readRunHashes, type RunHash, type RunHashOptions } from './verify/row-hash.js';
export { type VerifyOptions, type VerifyReport, verifyStore } from './verify/verify-store.js';
