export { detectFormat, FORMAT_NAMES, FORMATS } from './formats/formats.js';
export type { FormatName, ImportFormat, Mapped } from './format.js';
export type { CurrentReward } from './changed-rewards.js';
export {
  detectFileFormat,
  type Found,
  type FoundFormat,
  identifyFile,
  type IdentifiedFile,
  type ImportFile,
  importRows,
} from './import-rows.js';
export { findImportFiles } from './find-files.js';
export { importRunId } from './import-run-id.js';
export { RowFault, type Skip, type SkipCode } from './skip.js';
export { AgentGymReplay, ReplayServerError } from './verify/agentgym-replay.js';
export { BuiltInReplay } from './verify/built-in-replay.js';
export type { ReplayedEpisode, ReplayedStep, ReplayEnvironment, ReplayStart } from './verify/replay.js';
export { type Divergence, type Verification, verifyEpisode } from './verify/verify-episode.js';
export {
  EpisodeWriter,
  type ImportCounts,
  type RecordSink,
  type Refusal,
  type RowOutcome,
  type SkippedReason,
  type VerifiedCounts,
  type WriteOptions,
} from './write-episodes.js';
export { completedTraceRecords } from './spans/completed-trace.js';
export {
  type ArrivedSpans,
  type CompletedTrace,
  OpenTraces,
  type OpenTracesOptions,
} from './spans/open-traces.js';
export {
  decodeOtlpRequest,
  encodeOtlpFailure,
  encodeOtlpResponse,
  type OtlpPartialSuccess,
} from './spans/otlp-protobuf.js';
export { type StatedFacts, withStatedFacts } from './stated-facts.js';
export { isModelCall } from './spans/genai-node.js';
export { otlpSpans } from './spans/otlp-spans.js';
export type { OtelSpan } from './spans/otel-span.js';
