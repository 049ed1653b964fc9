export { Retrace, type RetraceOptions, type RunOptions } from './retrace.js';
export { Run } from './run.js';
export {
  Episode,
  type AnnotationFields,
  type EndFields,
  type EpisodeOptions,
  type RewardFields,
  type StepFields,
} from './episode.js';
export { appendToContext, type AppendedTokens } from './tokens/append-to-context.js';
export { RetraceError, type FieldError, type RetraceErrorCode } from './wire/retrace-error.js';
export type * from './wire/records.js';
export type { Batch, BatchOptions } from './read/batches.js';
export type { LiveMessage } from './read/tail.js';
export type { QueryOptions } from './read/query.js';
export type { SpoolOptions } from './spool/spool-options.js';
// The parts that `Retrace` is made of, for programs that record for others, as a proxy does.
export { ApiConnection, type ApiConnectionOptions } from './wire/api-connection.js';
export { Sender, type SenderCounts, type SenderOptions } from './sender/sender.js';
export type { DamagedEpisode } from './sender/damaged-episodes.js';
export { Changes } from './storable/changes.js';
export { cutText } from './storable/cut-text.js';
export { storableJson, storableText } from './storable/storable-json.js';
export { MADE_STORABLE, poorerRecord, storableRecord, type Storable } from './storable/storable-record.js';
export type { RecordQueue, ReadLimits } from './sender/record-queue.js';
export { MemoryQueue } from './sender/memory-queue.js';
export { outboxLine, type OutboxEntry, type OutboxLine } from './storable/outbox-entry.js';
export { SpoolQueue } from '#spool';
export { uuidV7 } from './uuid-v7.js';
