export { CheckpointFiles, nameContent } from './checkpoint-files.js';
export type { FileRef } from './file-ref.js';
export { checkpointsAt, type CheckpointLocation, type CheckpointStorage } from './remote/checkpoints-at.js';
export { PolicyError } from '../policy-error.js';
