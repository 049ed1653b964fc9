export { CheckpointFiles } from './checkpoint-files.js';
export type { FileRef } from './file-ref.js';
export { nameContent } from './write-synced.js';
export { checkpointsAt, type CheckpointLocation, type CheckpointStorage } from './remote/checkpoints-at.js';
export { PolicyError } from '../policy-error.js';
