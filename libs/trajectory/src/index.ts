export type * from './events.js';
export type * from './event-log.js';
export { END_REASONS, type EpisodeColumns } from './batch/episode-columns.js';
export { buildTokenBatch, type FinalSequences, type TokenBatch } from './batch/token-batch.js';
export { TrajectoryError, type TrajectoryErrorCode, type TrajectoryErrorOptions } from './errors.js';
export { LogError, type LogErrorCode } from './log-error.js';
export { EVENT_KINDS, isEpisodeEventKind, isEventKind, SCHEMA_VERSIONS } from './event-kinds.js';
export {
  episodeEventId,
  episodeIdFor,
  episodeOrdinal,
  MAX_EPISODE_ORDINAL,
  newControlEventId,
  newRunId,
  type EpisodeEventKey,
  type IdSource,
} from './ids.js';
export {
  newControlEvent,
  newEpisodeEvent,
  type ControlEventFields,
  type EpisodeEventFields,
} from './new-event.js';
export { partitionOf } from './partitioner.js';
export { PatientLog, type PatientLogOptions } from './patient-log.js';
export { SINK_GROUP, trajectoriesStored } from './stored-position.js';
export { describeProblem, type Problem } from './validation/problem.js';
export { assertValidEvent, findEventProblem } from './validation/validate-event.js';
export { isUuid } from './uuid.js';
export { contentChecksum } from './content-checksum.js';
export { ControlFold } from './fold/control-fold.js';
export { DeletedRuns } from './fold/deleted-runs.js';
export { EpisodeFold, type Conflict, type EpisodeState, type StepRange } from './fold/episode-fold.js';
export { closedGroups, closeTogether, type ClosedGroup } from './fold/closed-group.js';
export { GroupPool, type GroupCounts, type GroupState } from './fold/group-pool.js';
export { SharedRounds, type OpenRound, type RoundClaim, type RoundKey } from './fold/shared-rounds.js';
export { PolicyLineage, type PolicyState } from './fold/policy-lineage.js';
export {
  RunState,
  type Applied,
  type LatestMetric,
  type Refusal,
  type RunStateOptions,
} from './fold/run-state.js';
export {
  sealEpisode,
  summarizeEpisode,
  summarizeStep,
  type EpisodeEnd,
  type EpisodeSummary,
  type StepSummary,
} from './fold/seal-episode.js';
export {
  UpdateLedger,
  type CommittedState,
  type LastUpdate,
  type LedgerRefusal,
  type PendingPlan,
  type TrainerClaim,
} from './fold/update-ledger.js';
