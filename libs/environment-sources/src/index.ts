export { EnvironmentSourceError, type EnvironmentSourceErrorCode } from './errors.js';
export { loadEnvironmentModule } from './module/load-environment-module.js';
export { openEnvironment, type OpenEnvironment } from './open-environment.js';
export { readEnvironment } from './read-environment.js';
