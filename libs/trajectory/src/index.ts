export type * from './atif/atif.js';
export type * from './events/commit-events.js';
export type * from './events/control-events.js';
export type * from './events/dataset-events.js';
export type * from './events/notebook-events.js';
export type * from './events/episode-events.js';
export type * from './events/event.js';
export { EVENT_FIELDS } from './events/event-fields.js';
export type { ArrayType, EventField, EventFields, ValuesOf } from './fields/field.js';
export { isJsonObject, parsedJson, parsedObject, type Json, type JsonObject } from './json/json.js';
export type * from './events/lineage-events.js';
export type * from './events/validation-events.js';
export type * from './events/warning-events.js';
export { WARNING_SOURCES } from './events/warning-events.js';
export { columnsOfEpisodes, type ColumnsStep, type SealedEpisode } from './batch/columns-of-episodes.js';
export { episodeDigests } from './batch/episode-digests.js';
export { END_REASONS, type EpisodeColumns } from './batch/episode-columns.js';
export { buildTokenBatch, type TokenBatch } from './batch/token-batch.js';
export { ContentBytes } from './checksum/content-bytes.js';
export { contentChecksum, type StableField, stableFields } from './checksum/content-checksum.js';
export { copyBytes } from './checksum/copy-bytes.js';
export { EVENT_KINDS, isEpisodeEventKind, REMARK_KINDS, SCHEMA_VERSIONS } from './events/event-kinds.js';
export {
  ofTokenColumns,
  type StepTokenColumns,
  TOKEN_COLUMN_NAMES,
  TOKEN_COLUMNS,
  type TokenColumnName,
} from './events/token-columns.js';
export { newControlEvent, newEpisodeEvent } from './ids/new-event.js';
export { nowUs } from './events/now-us.js';
export { type Alarm, ALARM_KINDS, toAlarm, nameOfRule, ruleOfName, RUN_FAILED } from './fold/alarms/alarm.js';
export {
  type AlarmAcknowledgement,
  ALARM_HOLDS_US,
  type AlarmIdentity,
  alarmKey,
  AlarmOccurrences,
} from './fold/alarms/alarm-occurrences.js';
export { type ClosedGroup, closeTogether } from './fold/control/closed-group.js';
export { ControlFold } from './fold/control/control-fold.js';
export {
  DeletedRuns,
  type Deletion,
  type EpisodeOfRun,
  isDeletionKind,
} from './fold/control/deleted-runs.js';
export { GroupPool, type GroupState } from './fold/control/group-pool.js';
export {
  episodesByRun,
  type EpisodesOfRun,
  OWN_GROUPS_ONLY,
  ownGroupIds,
  runOfGroup,
} from './fold/control/planned-runs.js';
export type { PolicyLineage } from './fold/control/policy-lineage.js';
export { RowRecord } from './fold/control/row-record.js';
export { RunState } from './fold/control/run-state.js';
export type { RoundKey } from './fold/control/shared-rounds.js';
export { type CommittedState, LEARNED_TOKENS_METRIC } from './fold/control/update-ledger.js';
export { EpisodeFold, type EpisodeState } from './fold/episode/episode-fold.js';
export {
  EpisodePlaces,
  toFingerprint,
  type PlaceFault,
  type PlaceOutcome,
} from './fold/episode/episode-places.js';
export { RankWindow } from './fold/episode/rank-window.js';
export {
  type EpisodeTotals,
  episodeTotals,
  type StepTotals,
  stepTotals,
} from './fold/episode/episode-totals.js';
export {
  episodeIdFor,
  episodeOrdinal,
  episodeRank,
  evaluationEpisodeIdFor,
  isEvaluationEpisode,
  newControlEventId,
  newRunId,
} from './ids/ids.js';
export { describeAmbiguousId, findByPartOfId, MAX_ID_CANDIDATES, type FoundById } from './ids/part-of-id.js';
export { isUuid, uuidFromBytes, uuidToBytes } from './fields/uuid.js';
export { textsOfMessages } from './messages/message-text.js';
export {
  TrajectoryError,
  type TrajectoryErrorCode,
  type TrajectoryErrorOptions,
} from './trajectory-error.js';
export { type CheckedStep, checkStepRecorded } from './validation/episode-checks.js';
export { stepMessages } from './fields/message-rules.js';
export { describeProblem, type Problem } from './fields/problem.js';
export {
  type FieldRules,
  finiteNumber,
  flag,
  integerAtLeast,
  json,
  listOf,
  nonEmptyText,
  nullable,
  numberOrNaN,
  type Rule,
  text,
} from './fields/rules.js';
export { findUntrainableReason, type TrainableFields } from './validation/untrainable.js';
export { findEventProblem } from './validation/validate-event.js';
