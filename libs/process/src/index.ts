export {
  type Credentials,
  DataDirectory,
  isProcessAlive,
  readJson,
  type ServerAddress,
} from './data-directory.js';
export {
  CHECKPOINT_STORAGE_VARIABLES,
  readCheckpointStorage,
  checkpointStorageVariables,
  type CheckpointStorageConfig,
} from './environment/checkpoint-storage.js';
export { readLogLocation } from './environment/log-location.js';
export { namesKafka, readVariables } from './environment/read-variables.js';
export {
  readCollectorConfig,
  readSinkConfig,
  readStoreServerConfig,
  readTrainerConfig,
  readValidatorConfig,
  type BackendChoice,
  type CollectorConfig,
  type RunRoleConfig,
  type SinkConfig,
  type StoreServerConfig,
  type TrainerConfig,
  type ValidatorConfig,
} from './environment/role-config.js';
export { roleEnvironment } from './environment/role-environment.js';
export {
  OPTIONAL_STORE_VARIABLES,
  STORE_VARIABLES,
  readStoreAccess,
  type StoreAccess,
} from './environment/store-access.js';
export {
  hideKeys,
  KEY_SCOPES,
  parseKeyId,
  formatKeyPrefix,
  keyStateAt,
  matchesKey,
  mintKey,
  type KeyScope,
  type StoredKey,
} from './keys/api-key.js';
export { KeyDirectory, type KeyRequest, type StoredKeys } from './keys/key-directory.js';
export { KeyRing, type KeyRingOptions, type KeyVerdict } from './keys/key-ring.js';
export { ProcessError } from './process-error.js';
export { ServerProcess, type ServerProcessOptions } from './servers/server-process.js';
export type {
  BatchGroup,
  BatchQuestion,
  ReplayQuestion,
  UpdateAnswerMessage,
  UpdateQuestion,
  WhatIfQuestion,
  WrittenBatch,
} from './jobs/update-questions.js';
export { keepHeartbeatFile } from './supervision/heartbeat-file.js';
export { FINAL_FAILURE_EXIT_CODE, runProcess } from './supervision/run-process.js';
export type { RoleMessage, Supervised } from './supervision/supervised.js';
export type {
  AgentAddress,
  QueueItem,
  RunControlAnswer,
  RunControlCode,
  RunControlRequest,
  RunQueueState,
  StartRequest,
  SupervisorMessage,
} from './supervision/run-control.js';
