export { type Credentials, DataDirectory, type ServerAddress } from './data-directory.js';
export { keepHeartbeatFile } from './heartbeat-file.js';
export { type LogConfig, logInDirectory, namesKafka, readLogConfig } from './log-config.js';
export { ProcessError, type ProcessErrorCode } from './process-error.js';
export { requireVariable } from './require-variable.js';
export { readRoleConfig, RoleConfig, roleEnvironment, type SupervisedRoleConfig } from './role-config.js';
export { runRole } from './run-role.js';
export { readShare, type Share } from './share.js';
export { type RoleMessage, type Supervised, superviseThisProcess } from './supervised.js';
