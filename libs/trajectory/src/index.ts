export type * from './events.js';
export { END_REASONS, type EpisodeColumns } from './batch/episode-columns.js';
export { buildTokenBatch, type FinalSequences, type TokenBatch } from './batch/token-batch.js';
export { ContentBytes } from './content-bytes.js';
export { contentChecksum, type StableField, stableFields } from './content-checksum.js';
export { copyBytes } from './copy-bytes.js';
export { TrajectoryError, type TrajectoryErrorCode, type TrajectoryErrorOptions } from './errors.js';
export { EVENT_KINDS, isEpisodeEventKind, isEventKind, SCHEMA_VERSIONS } from './event-kinds.js';
export { type ClosedGroup, closedGroups, closeTogether } from './fold/closed-group.js';
export { ControlFold } from './fold/control-fold.js';
export { DeletedRuns } from './fold/deleted-runs.js';
export { type Conflict, EpisodeFold, type EpisodeState, type StepRange } from './fold/episode-fold.js';
export { EpisodePlaces, fingerprintOf, type PlaceFault, type Placement } from './fold/episode-places.js';
export { type GroupCounts, GroupPool, type GroupState } from './fold/group-pool.js';
export { PolicyLineage, type PolicyState } from './fold/policy-lineage.js';
export {
  type Applied,
  type LatestMetric,
  type Refusal,
  RunState,
  type RunStateOptions,
} from './fold/run-state.js';
export {
  type EpisodeEnd,
  type EpisodeSummary,
  sealEpisode,
  type StepSummary,
  summarizeEpisode,
  summarizeStep,
} from './fold/seal-episode.js';
export { type OpenRound, type RoundClaim, type RoundKey, SharedRounds } from './fold/shared-rounds.js';
export {
  type CommittedState,
  type LastUpdate,
  type LedgerRefusal,
  type PendingPlan,
  type TrainerClaim,
  UpdateLedger,
} from './fold/update-ledger.js';
export {
  episodeEventId,
  type EpisodeEventKey,
  episodeIdFor,
  episodeOrdinal,
  type IdSource,
  MAX_EPISODE_ORDINAL,
  newControlEventId,
  newRunId,
} from './ids.js';
export {
  type ControlEventFields,
  type EpisodeEventFields,
  newControlEvent,
  newEpisodeEvent,
} from './new-event.js';
export { isUuid, uuidFromBytes, uuidToBytes } from './uuid.js';
export { type CheckedStep, checkStepRecorded } from './validation/episode-events.js';
export { describeProblem, type Problem } from './validation/problem.js';
export { assertValidEvent, findEventProblem } from './validation/validate-event.js';
