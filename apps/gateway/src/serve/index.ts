export { ServeError, type ServeErrorCode } from './serve-error.js';
export type { ServeConfig } from './serve-config.js';
export { startServer, type RunningServer } from './start-server.js';
export { openDirectorySupply } from './supply/directory-supply.js';
export { openRunSupply } from './supply/run-supply.js';
export type { PolicySupply } from './supply/policy-supply.js';
export { readBody } from './server/client-connection.js';
export { KeyGuard } from './server/key-guard.js';
export { RequestError } from './protocol/request-error.js';
