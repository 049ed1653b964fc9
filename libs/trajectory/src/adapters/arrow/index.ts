export {
  ArrowColumns,
  assertCompleteArrowStream,
  type FlatLists,
  type FlatNumbers,
  type NullableNumbers,
} from './arrow-columns.js';
export { ArrowError, type ArrowErrorCode } from './arrow-error.js';
export { EventRowReader } from './event-row-reader.js';
export {
  DEAD_LETTER_KIND,
  eventRow,
  EventRowsEncoder,
  readEventRow,
  WATERMARK_EPISODE_ID,
  WATERMARK_KIND,
  type DeadLetterRow,
  type EncodedRows,
  type EventRow,
  type StreamPartition,
} from './event-rows.js';
export { RunFileError, type RunFileErrorCode } from './run-file/run-file-error.js';
export {
  exportRun,
  type CheckpointContent,
  type ExportReport,
  type ExportRun,
} from './run-file/export-run.js';
export { checkRunFile, importRun, type ImportRun } from './run-file/import-run.js';
export type { RunFileEnd } from './run-file/run-file-format.js';
