export { bundleForChild, type ChildModule } from './child-module.contract.js';
export type { EventLogHarness } from './context.contract.js';
export { describeEventLog } from './event-log.contract.js';
export { serveContractProcess } from './process-main.contract.js';
