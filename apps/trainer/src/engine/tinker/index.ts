export { listBaseModels, checkServer, TinkerClient, TinkerError, type CheckedServer } from '@retrace/tinker';
export { readAdapterFile, requireServer } from './served-model.js';
export { TinkerEngine } from './tinker-engine.js';
