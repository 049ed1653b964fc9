import { join } from 'node:path';
import type { EventLog } from '@retrace/log';
import { adoptSegment, Spool, SpoolError } from '@retrace/spool';
import { CollectorError } from '../collector-error.js';

export interface SpoolOptions {
  /** One writer at a time works with a directory. */
  readonly directory: string;
  /** Most bytes that all its files take together. */
  readonly maxBytes: number;
}

interface OpenedSpool {
  /** One a partition. */
  readonly spools: readonly Spool[];
  /** Records that an earlier writer left. */
  readonly numRecords: number;
  readonly numCutBytes: number;
}

/**
 * Opens a spool for each partition of stream `trajectories`.
 *
 * @throws CollectorError `SPOOL_UNUSABLE`
 */
export async function openSpool(log: EventLog, { directory }: SpoolOptions): Promise<OpenedSpool> {
  const spools: Spool[] = [];
  try {
    for (let partition = 0; partition < log.numPartitions('trajectories'); partition++) {
      const folder = join(directory, `${partition}`);
      // Earlier versions wrote one file a partition, in the same format.
      await adoptSegment(folder, join(directory, `${partition}.spool`));
      // An episode without gaps is worth more than the events behind one.
      spools.push(await Spool.open(folder, { sync: true, keeps: 'prefix', owner: log.logId }));
    }
  } catch (error) {
    await Promise.all(spools.map((spool) => spool.close()));
    if (error instanceof SpoolError) throw new CollectorError('SPOOL_UNUSABLE', error.message);
    throw error;
  }
  return {
    spools,
    numRecords: spools.reduce((sum, spool) => sum + spool.numRecords, 0),
    numCutBytes: spools.reduce((sum, spool) => sum + spool.numCutBytes, 0),
  };
}
