export {
  DataDirectory,
  type Credentials,
  type DataDirectoryPlaces,
  type ServerAddress,
} from './data-directory.js';
export type { Environment } from './environment/environment.js';
export { logConfigOf, logInDirectory, readLogConfig, type LogConfig } from './environment/log-config.js';
export { namesKafka } from './environment/log-variables.js';
export { readVariables, type Variables, type VariablesToRead } from './environment/read-variables.js';
export {
  readCollectorConfig,
  readSinkConfig,
  readStoreServerConfig,
  readTrainerConfig,
  type BackendChoice,
  type CollectorConfig,
  type RunRoleConfig,
  type SinkConfig,
  type StoreServerConfig,
} from './environment/role-config.js';
export { roleEnvironment } from './environment/role-environment.js';
export type { Share } from './environment/share.js';
export {
  OPTIONAL_STORE_VARIABLES,
  STORE_VARIABLES,
  storeAccessOf,
  type StoreAccess,
} from './environment/store-access.js';
export { ProcessError, type ProcessErrorCode } from './process-error.js';
export { keepHeartbeatFile } from './supervision/heartbeat-file.js';
export { runProcess, type RunProcessOptions } from './supervision/run-process.js';
export { superviseThisProcess, type RoleMessage, type Supervised } from './supervision/supervised.js';
