export { CheckpointFiles, type FileRef, nameContent } from './checkpoint-files.js';
export { checkpointsAt, type CheckpointLocation, type CheckpointStorage } from './remote/checkpoints-at.js';
export { PolicyError } from '../policy-error.js';
