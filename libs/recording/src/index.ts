export { requireRequest } from './wire/check-wire.js';
export { parseRecords, RECORD_MEDIA_TYPES, type RecordMediaType } from './body/parse-records.js';
export {
  ACKNOWLEDGE_ALARM_REQUEST,
  type AcknowledgeAlarmRequest,
  SILENCE_ALARMS_REQUEST,
  type SilenceAlarmsRequest,
} from './alarms/alarm-requests.js';
export { requireSilence } from './alarms/held-silence.js';
export { silenceEnd } from './alarms/silence-end.js';
export { toEpisodeId } from './convert/episode-id.js';
export { type AppendedBatch, Recorder } from './recorder.js';
export type { AcknowledgedNotebook } from './notebooks/notebook-recorder.js';
export {
  CREATE_NOTEBOOK_REQUEST,
  type CreateNotebookRequest,
  MAX_REVISION_READ,
  SAVE_NOTEBOOK_REQUEST,
  type SaveNotebookRequest,
} from './notebooks/notebook-requests.js';
export { MAX_RECORDS, type RecorderOptions } from './recorder-options.js';
export { redact, type RedactionListener } from './redaction/redact.js';
export { readRedactionRules, type RedactionRules } from './redaction/redaction-rules.js';
export { type RecordFault, RecordingError, type RecordingErrorCode } from './recording-error.js';
export type { WireAnnotation, WireEnd, WireEpisode, WireReward, WireTime } from './wire/episode-records.js';
export {
  ANNOTATE_RUN_REQUEST,
  type AnnotateRunRequest,
  END_RUN_REQUEST,
  type EndRunRequest,
  START_RUN_REQUEST,
  type StartRunRequest,
} from './wire/run-requests.js';
export type { Schema } from './wire/schema.js';
export type { AcknowledgedUpdate } from './updates/update-recorder.js';
export {
  PUBLISH_POLICY_REQUEST,
  type PublishPolicyRequest,
  RECORD_UPDATE_REQUEST,
  type RecordUpdateRequest,
} from './wire/update-requests.js';
export type { WireSampling, WireStep, WireTokens, WireUsage } from './wire/step-record.js';
export type { WireMessage, WireToolCall } from './wire/wire-message.js';
export { RECORD_SCHEMAS, type WireRecord, type WireType } from './wire/wire-records.js';
