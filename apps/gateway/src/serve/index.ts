export { GatewayError } from '../http/gateway-error.js';
export { readWholeBody } from '../http/read-body.js';
export { sendError } from '../http/send-answer.js';
export { pageError, RequestError } from '../http/request-error.js';
export { startServer, type RunningServer } from './start-server.js';
export { openDirectorySupply } from './supply/directory-supply.js';
export { openRunSupply } from './supply/run-supply.js';
export type { PolicySupply } from './supply/policy-supply.js';
export { KeyGuard } from './server/key-guard.js';
