export { BlockReports } from './block-reports.js';
export { type ControlEntry, ControlTail, readControlState } from './control-tail.js';
export {
  DEFAULT_MAX_EVENT_BYTES,
  type EventLog,
  type FollowOptions,
  type GroupCursor,
  type LogRecord,
  type OffsetRange,
  type PartitionRecords,
  type ReadOptions,
} from './event-log.js';
export { GroupCommit } from './group-commit.js';
export { LogError, type LogErrorCode } from './log-error.js';
export type { Share } from './kafka/exclusive-role.js';
export { describeLog, holdRole, type LogLocation, openLog } from './open-log.js';
export { choosePartition } from './partitioner.js';
export { PatientLog } from './patient-log.js';
export { orAborted } from './or-aborted.js';
export { type Warning, WarningLog, type WarningLogOptions } from './warning-log.js';
export {
  announceReader,
  countStoreBacklog,
  readerAwaits,
  SINK_GROUP,
  trajectoriesStored,
} from './stored-position.js';
export {
  collectorCursor,
  markRunStart,
  readRoundStarts,
  readRunStart,
  roundStarts,
  trajectoryEnds,
  validatorCursor,
} from './round-starts.js';
