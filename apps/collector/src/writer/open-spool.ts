import { join } from 'node:path';
import type { EventLog } from '@retrace/log';
import { SpoolFile } from './spool-file.js';

export interface SpoolOptions {
  /** One writer at a time works with a directory. */
  readonly directory: string;
  /** Most bytes that all its files take together. */
  readonly maxBytes: number;
}

interface OpenedSpool {
  /** One a partition. */
  readonly files: readonly SpoolFile[];
  /** Records that an earlier writer left in the files. */
  readonly numRecords: number;
  readonly numCutBytes: number;
}

/** Opens a spool file for each partition of stream `trajectories`. */
export async function openSpool(log: EventLog, { directory }: SpoolOptions): Promise<OpenedSpool> {
  const files: SpoolFile[] = [];
  try {
    for (let partition = 0; partition < log.numPartitions('trajectories'); partition++) {
      files.push(await SpoolFile.open(join(directory, `${partition}.spool`), log.logId));
    }
  } catch (error) {
    await Promise.all(files.map((file) => file.close()));
    throw error;
  }
  return {
    files,
    numRecords: files.reduce((sum, file) => sum + file.numRecords, 0),
    numCutBytes: files.reduce((sum, file) => sum + file.numCutBytes, 0),
  };
}
