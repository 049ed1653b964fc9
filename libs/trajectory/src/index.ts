export type * from './events/event.js';
export { END_REASONS, type EpisodeColumns } from './batch/episode-columns.js';
export { buildTokenBatch, type FinalSequences, type TokenBatch } from './batch/token-batch.js';
export { ContentBytes } from './checksum/content-bytes.js';
export { contentChecksum, type StableField, stableFields } from './checksum/content-checksum.js';
export { copyBytes } from './checksum/copy-bytes.js';
export {
  TrajectoryError,
  type TrajectoryErrorCode,
  type TrajectoryErrorOptions,
} from './trajectory-error.js';
export { EVENT_KINDS, isEpisodeEventKind, isEventKind, SCHEMA_VERSIONS } from './events/event-kinds.js';
export { type ClosedGroup, closedGroups, closeTogether } from './fold/control/closed-group.js';
export { ControlFold } from './fold/control/control-fold.js';
export { DeletedRuns } from './fold/control/deleted-runs.js';
export {
  type Conflict,
  EpisodeFold,
  type EpisodeState,
  type StepRange,
} from './fold/episode/episode-fold.js';
export {
  EpisodePlaces,
  fingerprintOf,
  type PlaceFault,
  type Placement,
} from './fold/episode/episode-places.js';
export { type GroupCounts, GroupPool, type GroupState } from './fold/control/group-pool.js';
export { PolicyLineage, type PolicyState } from './fold/control/policy-lineage.js';
export {
  type Applied,
  type LatestMetric,
  type Refusal,
  RunState,
  type RunStateOptions,
} from './fold/control/run-state.js';
export {
  type EpisodeEnd,
  type EpisodeSummary,
  sealEpisode,
  type StepSummary,
  summarizeEpisode,
  summarizeStep,
} from './fold/episode/seal-episode.js';
export {
  type OpenRound,
  type RoundClaim,
  type RoundKey,
  SharedRounds,
} from './fold/control/shared-rounds.js';
export {
  type CommittedState,
  type LastUpdate,
  type LedgerRefusal,
  type PendingPlan,
  type TrainerClaim,
  UpdateLedger,
} from './fold/control/update-ledger.js';
export {
  episodeEventId,
  type EpisodeEventKey,
  episodeIdFor,
  episodeOrdinal,
  type IdSource,
  MAX_EPISODE_ORDINAL,
  newControlEventId,
  newRunId,
} from './ids/ids.js';
export {
  type ControlEventFields,
  type EpisodeEventFields,
  newControlEvent,
  newEpisodeEvent,
} from './events/new-event.js';
export { isUuid, uuidFromBytes, uuidToBytes } from './ids/uuid.js';
export { type CheckedStep, checkStepRecorded } from './validation/episode-rules.js';
export { describeProblem, type Problem } from './validation/problem.js';
export { assertValidEvent, findEventProblem } from './validation/validate-event.js';
