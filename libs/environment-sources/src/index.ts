export { agentGymAction } from './agentgym/actions.js';
export { AgentGymClient } from './agentgym/client.js';
export { checkEnvironment, type CheckedRule } from './contract/check-environment.js';
export { EnvironmentSourceError, type EnvironmentSourceErrorCode } from './errors.js';
export { loadEnvironmentModule } from './module/load-environment-module.js';
export { openEnvironment, type OpenEnvironment } from './open-environment.js';
export { completeTasks } from './task-files/complete-tasks.js';
export { readEnvironment } from './read-environment.js';
