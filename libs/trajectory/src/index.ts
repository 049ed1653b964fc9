export type * from './events.js';
export type * from './event-log.js';
export { END_REASONS, type EpisodeColumns } from './batch/episode-columns.js';
export { buildTokenBatch, type FinalSequences, type TokenBatch } from './batch/token-batch.js';
export {
  LogError,
  TrajectoryError,
  type DataErrorCode,
  type LogErrorCode,
  type TrajectoryErrorCode,
  type TrajectoryErrorOptions,
} from './errors.js';
export { EVENT_KINDS, isEpisodeEventKind, isEventKind, SCHEMA_VERSIONS, streamOf } from './event-kinds.js';
export {
  episodeEventId,
  episodeIdFor,
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
export { describeProblem, type Problem } from './validation/problem.js';
export { assertValidEvent, findEventProblem } from './validation/validate-event.js';
export { isUuid } from './uuid.js';
