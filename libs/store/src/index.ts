export { filtersAsOf, settingsAsOf } from './as-of/as-of-filters.js';
export { readMoment } from './as-of/moment.js';
export {
  createStoreClient,
  type ResultTable,
  type ExplainForm,
  type StatementOptions,
  type StoreClient,
  type StoreReader,
} from './client/store-client.js';
export { StoreError } from './client/store-error.js';
export { listDeadLetters } from './dead-letters/dead-letters.js';
export { retryDeadLetters } from './dead-letters/retry-dead-letters.js';
export { amongEpisodes } from './reader/among-episodes.js';
export { readEpisodeEvents } from './reader/episode-events.js';
export type { EpisodeTexts } from './reader/episode-texts.js';
export {
  checkPrioritySql,
  PRIORITY_COLUMNS,
  type SamplingFacts,
  type SamplingQuery,
} from './reader/sampling-facts.js';
export { readPlanColumns, readPlanTexts } from './reader/plan-columns.js';
export { concatEpisodeColumns } from './reader/concat-episode-columns.js';
export { type AssignedReward, type LostEpisode, TrajectoryReader } from './reader/trajectory-reader.js';
export {
  type EpisodeIdRange,
  type EpisodeProgressRow,
  readEpisodeIdRange,
  readEpisodeProgress,
} from './reader/episode-progress.js';
export { type GroupProgressRow, readOpenGroups } from './reader/open-groups.js';
export {
  holdsAt,
  readAlarmOccurrences,
  readSilences,
  silenceAt,
  silenceOfAlarm,
  type StoredSilence,
} from './reader/alarm-reader.js';
export { type NotebookRevision, readNotebookRevision } from './reader/notebook-revisions.js';
export { readRunHistory, type RunHistoryRow } from './reader/run-history.js';
export {
  readCommittedUpdate,
  readPublishedVersion,
  readSealedEpisodes,
  readTrainingPosition,
  type CommittedUpdate,
  type EpisodeOfUpdate,
  type PublishedVersion,
} from './reader/training-position.js';
export type { PlayComparison, PlayedRun, PlayPrice, PlayReport, PlayRow } from './plays/play-report.js';
export {
  type PlayedAttempt,
  readStartedPlay,
  type StartedPlay,
  type UnfinishedRun,
} from './plays/read-ended.js';
export { type PlayedTask, type PlayRecord, playTag, readPlay } from './plays/read-play.js';
export { StoredPosition } from './catch-up/stored-position.js';
export { readNextOffset } from './position/store-position.js';
export { isBehindStore } from './position/backlog.js';
export { dropOtherLogs, readStoredLogs, refuseOtherLogs } from './position/other-logs.js';
export { readLogFromStore } from './rebuild/log-from-store.js';
export { type RebuildOptions, type RebuildReport, rebuildStore } from './rebuild/rebuild-store.js';
export { type DeleteRunReport, deleteRunRecords } from './retention/delete-run-records.js';
export { deletedPlaceholder } from './retention/deleted-placeholder.js';
export { deleteEpisodes, type DeleteEpisodesReport } from './retention/delete-episodes.js';
export {
  type EpisodeRetention,
  type ExpiredEpisode,
  readExpiredEpisodes,
} from './retention/expired-episodes.js';
export { dropReplacedParts } from './retention/drop-replaced-parts.js';
export { admitRecord, type RecordAdmission } from './admission/admit-record.js';
export { readDeletedRuns } from './admission/deletion-watch.js';
export { exportRun } from './run-file/export-run.js';
export { checkRunFile, importRun } from './run-file/import-run.js';
export { RunFileError } from './run-file/run-file-error.js';
export { migrate, MIGRATIONS_DIRECTORY } from './schema/migrate.js';
export { readSchemaState } from './schema/schema-state.js';
export { BackgroundSink, catchUp } from './catch-up/catch-up.js';
export type { SinkOptions } from './sink/sink-options.js';
export type { PartitionProgress } from './sink/sink-progress.js';
export { Sink } from './sink/sink.js';
export { untilVisible } from './catch-up/until-visible.js';
export { readRunHashes, type RunHash } from './verify/row-hash.js';
export { type VerifyReport, verifyStore } from './verify/verify-store.js';
