import { checkpointsAt, type CheckpointFiles } from '@retrace/policy/checkpoints';
import type { DataDirectory } from '@retrace/process';
import { checkpointStorageFor } from '../data-directory/environment.js';

/** The checkpoint files of a data directory, wherever they are. */
export function openCheckpoints(directory: DataDirectory): CheckpointFiles {
  return checkpointsAt({ directory: directory.checkpoints, storage: checkpointStorageFor(directory) });
}
